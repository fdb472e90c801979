#include "tessera/array/dtype.h"

#include <bit>

namespace tessera {
namespace {

struct DTypeFacts {
  std::string_view name;
  std::uint8_t item_size_bytes;
  DTypeKind kind;
};

// In the order of DType.
constexpr std::array<DTypeFacts, kDTypeCount> kFacts{{
    {"float16", 2, DTypeKind::kFloat},
    {"float32", 4, DTypeKind::kFloat},
    {"float64", 8, DTypeKind::kFloat},
    {"int8", 1, DTypeKind::kSigned},
    {"int16", 2, DTypeKind::kSigned},
    {"int32", 4, DTypeKind::kSigned},
    {"int64", 8, DTypeKind::kSigned},
    {"bool", 1, DTypeKind::kBool},
    {"uint8", 1, DTypeKind::kUnsigned},
    {"uint16", 2, DTypeKind::kUnsigned},
    {"uint32", 4, DTypeKind::kUnsigned},
    {"uint64", 8, DTypeKind::kUnsigned},
    {"complex64", 8, DTypeKind::kComplex},
    {"complex128", 16, DTypeKind::kComplex},
}};

const DTypeFacts& facts_of(DType dtype) {
  return kFacts[static_cast<std::size_t>(dtype)];
}

// The fields of binary64 and binary16.
constexpr std::uint64_t kDoubleMantissaMask = (std::uint64_t{1} << 52) - 1;
constexpr int kDoubleMantissaBits = 52;
constexpr int kDoubleBias = 1023;
constexpr int kHalfMantissaBits = 10;
constexpr int kHalfBias = 15;
constexpr std::uint16_t kHalfInfinity = 0x7c00;
constexpr std::uint16_t kHalfQuietBit = 0x0200;

}  // namespace

const std::array<DType, kDTypeCount>& all_dtypes() {
  static constexpr std::array<DType, kDTypeCount> kAll{
      DType::kFloat16, DType::kFloat32, DType::kFloat64,   DType::kInt8,       DType::kInt16,
      DType::kInt32,   DType::kInt64,   DType::kBool,      DType::kUInt8,      DType::kUInt16,
      DType::kUInt32,  DType::kUInt64,  DType::kComplex64, DType::kComplex128,
  };
  return kAll;
}

std::string_view name_of(DType dtype) {
  return facts_of(dtype).name;
}

std::optional<DType> find_dtype(std::string_view name) {
  for (std::size_t i = 0; i < kFacts.size(); ++i) {
    if (kFacts[i].name == name) {
      return static_cast<DType>(i);
    }
  }
  return std::nullopt;
}

std::size_t item_size_bytes(DType dtype) {
  return facts_of(dtype).item_size_bytes;
}

DTypeKind kind_of(DType dtype) {
  return facts_of(dtype).kind;
}

bool is_castable(DType from, DType to) {
  const DTypeKind source = kind_of(from);
  switch (kind_of(to)) {
    case DTypeKind::kComplex:
      return true;
    case DTypeKind::kFloat:
      return source != DTypeKind::kComplex;
    case DTypeKind::kSigned:
    case DTypeKind::kUnsigned:
      return source == DTypeKind::kSigned || source == DTypeKind::kUnsigned || source == DTypeKind::kBool;
    case DTypeKind::kBool:
      break;
  }
  return source == DTypeKind::kBool;
}

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
