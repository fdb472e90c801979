// Random 128-bit ids in the form of UUID version 4, from a buffered getrandom(2).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <string>

namespace tessera {

/// A random UUID (version 4, variant 1): names runs and the files of binref (PROTOCOL.md sections 5.3 and 13.1). A
/// plain value; one that was not made by make() is all zeros.
class RandomId {
 public:
  /// Makes a new id. Safe to call from any thread; costs about 0.1 µs. A forked child never repeats its parent's
  /// ids.
  [[nodiscard]] static RandomId make();

  /// 36 characters: `f81d4fae-7dec-4d0e-a765-00a0c91e6bf6`.
  [[nodiscard]] std::string dashed() const;
  /// 32 characters without dashes.
  [[nodiscard]] std::string hex() const;

  friend auto operator<=>(const RandomId&, const RandomId&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

}  // namespace tessera
