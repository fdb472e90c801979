#include "decimal_double.h"

#include <bit>
#include <limits>

#include "powers_of_ten.h"

namespace tessera {
namespace {

static_assert(std::numeric_limits<double>::is_iec559);
constexpr int kFractionBits = 52;
constexpr int kExponentBias = 1023;
constexpr std::uint64_t kHiddenBit = std::uint64_t{1} << kFractionBits;
constexpr std::uint64_t kFractionMask = kHiddenBit - 1;
constexpr int kInfiniteExponent = 0x7FF;

// Products with these fixed-point logarithms, shifted down, are floor(n * log) for all n that occur here.
constexpr int floor_log10_of_power_of_2(int power) {
  return power * 1262611 >> 22;
}
constexpr int floor_log2_of_power_of_10(int power) {
  return power * 1741647 >> 19;
}
// floor(log10(3/4 * 2^power))
constexpr int floor_log10_of_three_quarters(int power) {
  return (power * 1262611 - 524031) >> 22;
}

// The upper 64 bits of a product, cut off, with the last bit set if something was cut off ("round to odd"): comparisons
// with it come out as with the exact product.
std::uint64_t scaled(Wide power, std::uint64_t number) {
  const Wide product = add(multiply(power.high, number), multiply(power.low, number).high);
  return product.high | (product.low > 1 ? 1U : 0U);
}

ShortDecimal without_zeros(std::uint64_t digits, int exponent) {
  while (digits % 10 == 0) {
    digits /= 10;
    ++exponent;
  }
  return {digits, exponent};
}

}  // namespace

ShortDecimal shortest_decimal_of(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const std::uint64_t fraction = bits & kFractionMask;
  const int biased = static_cast<int>(bits >> kFractionBits);
  // number = significand * 2^exponent
  const std::uint64_t significand = biased != 0 ? fraction | kHiddenBit : fraction;
  const int exponent = (biased != 0 ? biased : 1) - kExponentBias - kFractionBits;
  // What reads back as this number lies between the middles to both neighbours, the middles included if the significand
  // is even. The neighbour below a power of two is half as far.
  const bool is_lower_nearer = fraction == 0 && biased > 1;
  const std::uint64_t is_odd = significand & 1;
  const int power = is_lower_nearer ? floor_log10_of_three_quarters(exponent) : floor_log10_of_power_of_2(exponent);
  const int shift = exponent + floor_log2_of_power_of_10(-power) + 1;
  Wide scale = power_of_ten(-power);
  if (-power < 0 || -power > kMaxExactPowerOfTen) {
    scale = add(scale, 1);  // rounded up
  }
  // All in quarters of 10^power.
  const std::uint64_t lower = scaled(scale, (4 * significand - 2 + (is_lower_nearer ? 1 : 0)) << shift) + is_odd;
  const std::uint64_t exact = scaled(scale, (4 * significand) << shift);
  const std::uint64_t upper = scaled(scale, (4 * significand + 2) << shift) - is_odd;

  const std::uint64_t below = exact / 4;
  if (below >= 10) {
    // With one digit less there is at most one candidate.
    const std::uint64_t shorter = below / 10;
    const bool is_below_inside = lower <= 40 * shorter;
    const bool is_above_inside = 40 * shorter + 40 <= upper;
    if (is_below_inside != is_above_inside) {
      return without_zeros(shorter + (is_above_inside ? 1 : 0), power + 1);
    }
  }
  const bool is_below_inside = lower <= 4 * below;
  const bool is_above_inside = 4 * below + 4 <= upper;
  bool is_above_taken = is_above_inside;
  if (is_below_inside == is_above_inside) {
    const std::uint64_t middle = 4 * below + 2;
    is_above_taken = exact > middle || (exact == middle && (below & 1) != 0);
  }
  return without_zeros(below + (is_above_taken ? 1 : 0), power);
}

double double_of_decimal(std::uint64_t digits, std::int64_t exponent) {
  constexpr int kSmallestExponent = -342;  // below, 19 digits are less than half of the smallest double
  constexpr int kLargestExponent = 308;
  // Of a product, behind the bits of the significand: one to round by, one that may be lost to normalising it, and one.
  constexpr int kSpareBits = 64 - kFractionBits - 3;
  if (digits == 0 || exponent < kSmallestExponent) {
    return 0.0;
  }
  if (exponent > kLargestExponent) {
    return std::numeric_limits<double>::infinity();
  }
  const int power = static_cast<int>(exponent);
  const int shift = std::countl_zero(digits);
  digits <<= shift;
  Wide scale = power_of_ten(power);
  if (power < 0 && power >= -27) {
    scale = add(scale, 1);  // rounded up, so that products with exact quotients are exact
  }
  Wide product = multiply(scale.high, digits);
  if ((product.high << (64 - kSpareBits)) == ~std::uint64_t{0} << (64 - kSpareBits)) {
    // What was cut off may carry into the bits that count.
    product = add(product, multiply(scale.low, digits).high);
  }
  const int is_normal = static_cast<int>(product.high >> 63);
  std::uint64_t significand = product.high >> (is_normal + kSpareBits);
  int biased = floor_log2_of_power_of_10(power) + 63 + is_normal - shift + kExponentBias;
  if (biased <= 0) {
    // Less than the smallest normal number.
    if (biased < -62) {
      return 0.0;
    }
    significand >>= 1 - biased;
    significand = (significand + (significand & 1)) >> 1;
    biased = significand < kHiddenBit ? 0 : 1;
    return std::bit_cast<double>((significand & kFractionMask) | static_cast<std::uint64_t>(biased) << kFractionBits);
  }
  constexpr int kLowestTiePower = -4;
  constexpr int kHighestTiePower = 23;
  if (product.low <= 1 && power >= kLowestTiePower && power <= kHighestTiePower && (significand & 3) == 1 &&
      significand << (is_normal + kSpareBits) == product.high) {
    significand &= ~std::uint64_t{1};  // in the middle of two doubles: to the even one
  }
  significand = (significand + (significand & 1)) >> 1;
  if (significand == kHiddenBit * 2) {
    significand = kHiddenBit;
    ++biased;
  }
  if (biased >= kInfiniteExponent) {
    return std::numeric_limits<double>::infinity();
  }
  return std::bit_cast<double>((significand & kFractionMask) | static_cast<std::uint64_t>(biased) << kFractionBits);
}

}  // namespace tessera
