#include "tessera/array/half.h"

#include <bit>

namespace tessera {
namespace {

// The fields of binary64 and binary16.
constexpr std::uint64_t kDoubleMantissaMask = (std::uint64_t{1} << 52) - 1;
constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleBias = 1023;
constexpr int kHalfMantissaBits = 10;
constexpr int kHalfBias = 15;
constexpr std::uint16_t kHalfInfinity = 0x7c00;
constexpr std::uint16_t kHalfQuietBit = 0x0200;

}  // namespace

Half Half::from_float(float number) {
  // Exact as a double, so that rounding happens once.
  return from_double(static_cast<double>(number));
}

Half Half::from_double(double number) {
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto sign = static_cast<std::uint16_t>((bits >> 48U) & 0x8000U);
  const int exponent = static_cast<int>((bits >> kDoubleMantissaBits) & 0x7ffU);
  const std::uint64_t mantissa = bits & kDoubleMantissaMask;
  if (exponent == 0x7ff) {
    // NaN keeps the top of its payload, and stays a NaN.
    const auto payload = static_cast<std::uint16_t>(mantissa >> (kDoubleMantissaBits - kHalfMantissaBits));
    const auto quiet = static_cast<std::uint16_t>(mantissa != 0 ? kHalfQuietBit : 0);
    return Half{static_cast<std::uint16_t>(sign | kHalfInfinity | payload | quiet)};
  }
  int half_exponent = exponent - kDoubleBias + kHalfBias;
  if (half_exponent >= 0x1f) {
    return Half{static_cast<std::uint16_t>(sign | kHalfInfinity)};
  }
  // Below the smallest subnormal's half, all is zero; this also bounds the shift.
  if (half_exponent < -kHalfMantissaBits) {
    return Half{sign};
  }
  int shift = kDoubleMantissaBits - kHalfMantissaBits;
  std::uint64_t significand = mantissa;
  std::uint64_t rounded = 0;
  if (half_exponent <= 0) {
    significand |= std::uint64_t{1} << kDoubleMantissaBits;
    shift += 1 - half_exponent;
    half_exponent = 0;
  }
  rounded = (static_cast<std::uint64_t>(half_exponent) << kHalfMantissaBits) + (significand >> shift);
  const std::uint64_t rest = significand & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t middle = std::uint64_t{1} << (shift - 1);
  // A carry out of the mantissa goes into the exponent, up to infinity, as it should.
  if (rest > middle || (rest == middle && (rounded & 1U) != 0)) {
    ++rounded;
  }
  return Half{static_cast<std::uint16_t>(sign | rounded)};
}

float Half::to_float() const {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000U) << 16U;
  const std::uint32_t exponent = (bits >> 10U) & 0x1fU;
  const std::uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return sign != 0 ? -magnitude : magnitude;
  }
  const std::uint32_t float_exponent = exponent == 0x1f ? 0xffU : exponent + 127U - 15U;
  return std::bit_cast<float>(sign | (float_exponent << 23U) | (mantissa << 13U));
}

}  // namespace tessera
