// How a fuzz target takes what it needs off the front of its input, and what it says when something does not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera::fuzzing {

/// Something that must hold did not: a finding.
class Broken final : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws Broken, which ends a fuzzer and fails a replay.
inline void require(bool holds, const char* what) {
  if (!holds) {
    throw Broken(what);
  }
}

/// Throws Broken unless `text` is strict JSON in UTF-8, by a reader that is not ours.
void require_json(std::string_view text, const char* what);

/// The input of one run. Choices come first, a byte each; the rest is what is decoded. Borrows the bytes.
class Input {
 public:
  explicit Input(std::string_view bytes) : bytes_(bytes) {}

  /// The next byte; 0 at the end.
  [[nodiscard]] std::uint8_t byte() {
    if (bytes_.empty()) {
      return 0;
    }
    const auto first = static_cast<std::uint8_t>(bytes_.front());
    bytes_.remove_prefix(1);
    return first;
  }
  /// A number below `count`, by the next byte.
  [[nodiscard]] std::size_t pick(std::size_t count) { return byte() % count; }
  [[nodiscard]] std::string_view rest() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace tessera::fuzzing
