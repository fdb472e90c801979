#include "powers_of_ten.h"

#include <array>
#include <bit>
#include <cstddef>

namespace tessera {
namespace {

__extension__ using Uint128 = unsigned __int128;

// Room for 2^1024, and so for 5^324.
constexpr std::size_t kLimbs = 17;

// A large whole number, the lowest limb first.
class Large {
 public:
  constexpr Large(std::size_t limb, std::uint64_t value) { limbs_[limb] = value; }

  constexpr void multiply_by_5() {
    Uint128 carry = 0;
    for (std::uint64_t& limb : limbs_) {
      carry += static_cast<Uint128>(limb) * 5;
      limb = static_cast<std::uint64_t>(carry);
      carry >>= 64;
    }
  }
  // Cuts off what is left over; so after several times the result is that of dividing once.
  constexpr void divide_by_5() {
    Uint128 rest = 0;
    for (std::size_t i = kLimbs; i != 0; --i) {
      rest = rest << 64 | limbs_[i - 1];
      limbs_[i - 1] = static_cast<std::uint64_t>(rest / 5);
      rest %= 5;
    }
  }
  // The first 128 bits from the first that is set, zeros behind the last.
  [[nodiscard]] constexpr Wide first_bits() const {
    std::size_t top = kLimbs - 1;
    while (limbs_[top] == 0) {
      --top;
    }
    const int shift = std::countl_zero(limbs_[top]);
    const auto at = [this](std::size_t limb, std::size_t down) { return limb >= down ? limbs_[limb - down] : 0; };
    const auto shifted = [shift](std::uint64_t upper, std::uint64_t lower) {
      return shift == 0 ? upper : upper << shift | lower >> (64 - shift);
    };
    return {shifted(at(top, 0), at(top, 1)), shifted(at(top, 1), at(top, 2))};
  }

 private:
  std::array<std::uint64_t, kLimbs> limbs_{};
};

// 10^n has the bits of 5^n.
constexpr auto make_powers() {
  std::array<Wide, kMaxPowerOfTen - kMinPowerOfTen + 1> powers{};
  Large power(0, 1);
  for (int n = 0; n <= kMaxPowerOfTen; ++n) {
    powers[static_cast<std::size_t>(n - kMinPowerOfTen)] = power.first_bits();
    power.multiply_by_5();
  }
  Large inverse(kLimbs - 1, 1);
  for (int n = -1; n >= kMinPowerOfTen; --n) {
    inverse.divide_by_5();
    powers[static_cast<std::size_t>(n - kMinPowerOfTen)] = inverse.first_bits();
  }
  return powers;
}

constexpr auto kPowers = make_powers();

}  // namespace

Wide power_of_ten(int power) {
  return kPowers[static_cast<std::size_t>(power - kMinPowerOfTen)];
}

}  // namespace tessera
