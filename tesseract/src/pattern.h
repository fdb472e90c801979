// A compiled regular expression: the one place that includes RE2 (std::regex overflows the stack on long input).
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "tessera/base/result.h"

namespace tessera {

/// Immutable; safe to use from any thread.
class Pattern {
 public:
  /// Errors: kInvalidArgument, with RE2's words.
  [[nodiscard]] static Result<std::shared_ptr<const Pattern>> compile(const std::string& expression);
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;
  virtual ~Pattern() = default;

  /// Whether `text` contains a match.
  [[nodiscard]] virtual bool is_found_in(std::string_view text) const = 0;

 protected:
  Pattern() = default;
};

}  // namespace tessera
