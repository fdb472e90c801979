// A text that is followed as it arrives, in pieces, each time in other memory: what is read of it is what is read of
// the whole.
#include "tessera/array/early_base64.h"

#include <algorithm>
#include <string>

#include "arrays.h"
#include "input.h"
#include "targets.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_scanner.h"

namespace tessera::fuzzing {
namespace {

// Lets the text arrive in two pieces and more.
EarlyBase64 follow(std::string_view text, std::size_t piece) {
  EarlyBase64 early(text.size(), {.array_bytes = 1, .text_bytes = 1});
  for (std::size_t there = 0; there < text.size();) {
    there = std::min(text.size(), there + piece);
    early.advance(std::string(text.substr(0, there)));
  }
  return early;
}

void require_same_bytes(EarlyBase64 early, std::string_view text) {
  for (std::size_t begin = 0; begin != text.size(); ++begin) {
    for (std::size_t end = begin; end <= text.size(); end += 4) {
      if (const std::optional<Buffer> bytes = early.take(begin, end - begin)) {
        const std::string_view taken = text.substr(begin, end - begin);
        require(begin > 0 && text[begin - 1] == '"' && end < text.size() && text[end] == '"', "only whole texts");
        std::string again(base64_length(bytes->size_bytes()), '\0');
        base64_encode(bytes->bytes(), again.data());
        require(again == taken, "what was decoded early is what the text says");
      }
    }
  }
}

}  // namespace

void fuzz_early_base64(std::string_view bytes) {
  Input input(bytes);
  const std::size_t piece = 1 + input.byte();
  const ArraySpec spec = pick_spec(input);
  const std::string_view text = input.rest();

  EarlyBase64 early = follow(text, piece);
  const ArrayReader reader(nullptr, {kMaxArrayBytes});
  JsonScanner plain(text);
  JsonScanner followed(text, {.early = &early});
  const auto expected = reader.read(plain, spec);
  const auto actual = reader.read(followed, spec);
  require(plain.has_fault() == followed.has_fault(), "a text is JSON or is not");
  require(plain.has_fault() || plain.offset() == followed.offset(), "both end at one place");
  if (const auto* const array = std::get_if<Array>(&expected)) {
    const auto* const other = std::get_if<Array>(&actual);
    require(other != nullptr && are_same(*array, *other), "one text is one array");
  } else {
    const auto* const fault = std::get_if<ArrayFault>(&actual);
    require(fault != nullptr && fault->kind == std::get<ArrayFault>(expected).kind &&
                fault->reason == std::get<ArrayFault>(expected).reason,
            "one text has one fault");
  }
  if (text.size() <= 512) {
    require_same_bytes(follow(text, piece), text);
  }
}

}  // namespace tessera::fuzzing
