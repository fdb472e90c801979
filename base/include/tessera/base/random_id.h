// Random 128-bit ids in the form of UUID version 4, from a buffered getrandom(2).
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// A random UUID (version 4, variant 1): names runs and the files of binref (PROTOCOL.md sections 5.3 and 13.1). A
/// plain value; one that was not made by make() is all zeros.
class RandomId {
 public:
  /// Makes a new id. Safe to call from any thread; costs about 0.1 µs. A forked child never repeats its parent's
  /// ids.
  [[nodiscard]] static RandomId make();
  /// Reads what hex() writes, and no other form: 32 lower-case digits. Of whichever version.
  [[nodiscard]] static std::optional<RandomId> parse_hex(std::string_view text);

  /// 36 characters: `f81d4fae-7dec-4d0e-a765-00a0c91e6bf6`.
  [[nodiscard]] std::string dashed() const;
  /// 32 characters without dashes.
  [[nodiscard]] std::string hex() const;
  /// Writes what hex() gives.
  void write_hex(std::span<char, 32> text) const;
  /// The first byte first; all random but for half of byte 6 and a quarter of byte 8.
  [[nodiscard]] const std::array<std::uint8_t, 16>& bytes() const { return bytes_; }

  friend auto operator<=>(const RandomId&, const RandomId&) = default;

 private:
  std::array<std::uint8_t, 16> bytes_{};
};

}  // namespace tessera
