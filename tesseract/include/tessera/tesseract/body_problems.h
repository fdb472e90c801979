// Reads whole bodies: the problems of those that are no JSON, or no object (PROTOCOL.md section 7.2).
#pragma once

#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/json_scanner.h"
#include "tessera/tesseract/problem.h"

namespace tessera {

// Both are safe to call from any thread; the problem borrows the body.

/// A body that is no JSON. Requires: the fault is one of syntax.
[[nodiscard]] Problem problem_of_syntax(const JsonFault& fault);
/// A body that is JSON but no object: one that is null counts as missing. `body` is its text.
[[nodiscard]] Problem problem_of_no_object(JsonKind kind, std::string_view body);

/// Reads a body to its end: `read_members` reads the object if there is one. Sets `text` to what was read. Returns what
/// is wrong with the whole; nothing if it is an object.
template <class ReadMembers>
[[nodiscard]] std::optional<std::variant<std::vector<Problem>, JsonFault>> read_body(JsonScanner& scanner,
                                                                                     std::string_view& text,
                                                                                     ReadMembers read_members) {
  const JsonKind kind = scanner.peek();
  const std::size_t begin = scanner.offset();
  if (kind == JsonKind::kObject) {
    read_members();
  } else {
    scanner.skip_value();
  }
  text = scanner.text_since(begin);
  scanner.expect_end();
  if (scanner.has_fault()) {
    if (scanner.fault().kind != JsonFault::Kind::kSyntax) {
      return scanner.fault();
    }
    return std::vector<Problem>{problem_of_syntax(scanner.fault())};
  }
  if (kind != JsonKind::kObject) {
    return std::vector<Problem>{problem_of_no_object(kind, text)};
  }
  return std::nullopt;
}

}  // namespace tessera
