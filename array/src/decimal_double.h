// Between doubles and their decimals, both ways exact: faster than std::from_chars and std::to_chars, which the tests
// hold them to.
#pragma once

#include <cstdint>

namespace tessera {

/// `digits` times ten to the power of `exponent`.
struct ShortDecimal {
  std::uint64_t digits = 0;  ///< at most 17 decimal digits; the last is not 0
  int exponent = 0;
};

/// The shortest decimal that reads back as `number`; of several the nearest, of two as near the even one.
/// Requires: finite and above zero. By the method of R. Giulietti, "The Schubfach way to render doubles", 2021.
[[nodiscard]] ShortDecimal shortest_decimal_of(double number);

/// The double nearest to `digits` times ten to the power of `exponent`, of two as near the even one; infinity beyond
/// the largest. By the method of D. Lemire, "Number parsing at a gigabyte per second", 2021, and N. Mushtak and D.
/// Lemire, "Fast number parsing without fallback", 2023.
[[nodiscard]] double double_of_decimal(std::uint64_t digits, std::int64_t exponent);

}  // namespace tessera
