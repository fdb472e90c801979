// The 14 element types that cross the wire, named as there (PROTOCOL.md section 5). Functions are safe to call from any
// thread. To add one: the enumeration, kDTypeCount, DTypeOf and visit_dtype here, the table of src/dtype.cpp; then what
// the compiler points at.
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tessera/array/half.h"

namespace tessera {

/// An element type, in the order in which the OpenAPI document lists them.
enum class DType : std::uint8_t {
  kFloat16,
  kFloat32,
  kFloat64,
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kBool,
  kUInt8,
  kUInt16,
  kUInt32,
  kUInt64,
  kComplex64,
  kComplex128,
};

/// Counts up to the last one.
inline constexpr std::size_t kDTypeCount = static_cast<std::size_t>(DType::kComplex128) + 1;

/// All element types in that order.
[[nodiscard]] const std::array<DType, kDTypeCount>& all_dtypes();

/// Kinds of element types, for the rules of casting (PROTOCOL.md section 6.2).
enum class DTypeKind : std::uint8_t { kFloat, kSigned, kUnsigned, kBool, kComplex };

/// The name on the wire, e.g. "float32".
[[nodiscard]] std::string_view name_of(DType dtype);
/// The element type of that exact name (case counts, no other spelling), if there is one.
[[nodiscard]] std::optional<DType> find_dtype(std::string_view name);
/// Bytes of one element.
[[nodiscard]] std::size_t item_size_bytes(DType dtype);
/// What casting depends on.
[[nodiscard]] DTypeKind kind_of(DType dtype);
/// Whether a field of type `to` takes arrays of type `from` (PROTOCOL.md section 6.2, step 3); values may still not
/// fit.
[[nodiscard]] bool is_castable(DType from, DType to);

/// The element type of a C++ type; only those below have one.
template <class T>
struct DTypeOf;
template <>
struct DTypeOf<Half> {
  static constexpr DType kValue = DType::kFloat16;
};
template <>
struct DTypeOf<float> {
  static constexpr DType kValue = DType::kFloat32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType kValue = DType::kFloat64;
};
template <>
struct DTypeOf<std::int8_t> {
  static constexpr DType kValue = DType::kInt8;
};
template <>
struct DTypeOf<std::int16_t> {
  static constexpr DType kValue = DType::kInt16;
};
template <>
struct DTypeOf<std::int32_t> {
  static constexpr DType kValue = DType::kInt32;
};
template <>
struct DTypeOf<std::int64_t> {
  static constexpr DType kValue = DType::kInt64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType kValue = DType::kBool;
};
template <>
struct DTypeOf<std::uint8_t> {
  static constexpr DType kValue = DType::kUInt8;
};
template <>
struct DTypeOf<std::uint16_t> {
  static constexpr DType kValue = DType::kUInt16;
};
template <>
struct DTypeOf<std::uint32_t> {
  static constexpr DType kValue = DType::kUInt32;
};
template <>
struct DTypeOf<std::uint64_t> {
  static constexpr DType kValue = DType::kUInt64;
};
template <>
struct DTypeOf<std::complex<float>> {
  static constexpr DType kValue = DType::kComplex64;
};
template <>
struct DTypeOf<std::complex<double>> {
  static constexpr DType kValue = DType::kComplex128;
};
/// The same as a constant.
template <class T>
inline constexpr DType kDTypeOf = DTypeOf<T>::kValue;

/// Calls `function` with a value-initialised element of the C++ type of `dtype`, and returns what it returns.
template <class Function>
decltype(auto) visit_dtype(DType dtype, Function&& function) {
  switch (dtype) {
    case DType::kFloat16:
      return function(Half{});
    case DType::kFloat32:
      return function(float{});
    case DType::kFloat64:
      return function(double{});
    case DType::kInt8:
      return function(std::int8_t{});
    case DType::kInt16:
      return function(std::int16_t{});
    case DType::kInt32:
      return function(std::int32_t{});
    case DType::kInt64:
      return function(std::int64_t{});
    case DType::kBool:
      return function(bool{});
    case DType::kUInt8:
      return function(std::uint8_t{});
    case DType::kUInt16:
      return function(std::uint16_t{});
    case DType::kUInt32:
      return function(std::uint32_t{});
    case DType::kUInt64:
      return function(std::uint64_t{});
    case DType::kComplex64:
      return function(std::complex<float>{});
    case DType::kComplex128:
      break;
  }
  return function(std::complex<double>{});
}

}  // namespace tessera
