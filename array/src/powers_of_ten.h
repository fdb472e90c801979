// Powers of ten to 128 bits, between doubles and decimals.
#pragma once

#include <cstdint>

namespace tessera {

/// 128 bits as two halves.
struct Wide {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

inline constexpr int kMinPowerOfTen = -342;
inline constexpr int kMaxPowerOfTen = 324;

/// The first 128 significant bits of 10^power, cut off: what follows them is lost but for powers from 0 to 55, which
/// are exact. The first bit is set. Requires: kMinPowerOfTen <= power <= kMaxPowerOfTen.
[[nodiscard]] Wide power_of_ten(int power);
inline constexpr int kMaxExactPowerOfTen = 55;

/// The product of two numbers.
[[nodiscard]] inline Wide multiply(std::uint64_t left, std::uint64_t right) {
  __extension__ using Product = unsigned __int128;
  const Product product = static_cast<Product>(left) * right;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
}

/// Adds to the low half, with its carry.
[[nodiscard]] inline Wide add(Wide number, std::uint64_t more) {
  number.low += more;
  number.high += number.low < more ? 1 : 0;
  return number;
}

}  // namespace tessera
