#include "json_buffer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "decode_fault.h"
#include "integer_limits.h"
#include "loose_numbers.h"
#include "tessera/array/fit.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

constexpr std::string_view kEncoding = "json";

bool is_integer(DType dtype) {
  return kind_of(dtype) == DTypeKind::kSigned || kind_of(dtype) == DTypeKind::kUnsigned;
}

ArrayFault out_of_range(DType dtype, std::string value) {
  ArrayFault fault;
  fault.kind = ArrayFault::Kind::kOutOfRange;
  fault.expected_dtype = dtype;
  fault.value = std::move(value);
  return fault;
}

// The slots as they are, under another shape.
Array slots_as(DType dtype, const NumberList& list, const Shape& shape) {
  return Array::wrap(dtype, shape, list.slots.first(list.count * item_size_bytes(dtype)));
}

DType slot_dtype(NumberList::Kind kind) {
  switch (kind) {
    case NumberList::Kind::kBool:
    case NumberList::Kind::kInt64:
      return DType::kInt64;
    case NumberList::Kind::kUInt64:
      return DType::kUInt64;
    case NumberList::Kind::kFloat64:
      break;
  }
  return DType::kFloat64;
}

template <class T>
void write_truth(std::span<const T> numbers, std::span<bool> flags) {
  std::transform(numbers.begin(), numbers.end(), flags.begin(), [](T number) { return number != T{0}; });
}

Array to_bools(const NumberList& list, const Shape& shape) {
  const Array slots = slots_as(slot_dtype(list.kind), list, shape);
  Array flags = Array::allocate(DType::kBool, shape);
  if (list.kind == NumberList::Kind::kFloat64) {
    write_truth(slots.values<double>(), flags.mutable_values<bool>());
  } else {
    // The sign does not matter, only whether a bit is set.
    write_truth(
        std::span<const std::uint64_t>(reinterpret_cast<const std::uint64_t*>(slots.bytes().data()), list.count),
        flags.mutable_values<bool>());
  }
  return flags;
}

bool are_whole(std::span<const double> numbers) {
  return std::ranges::all_of(numbers,
                             [](double number) { return std::isfinite(number) && std::trunc(number) == number; });
}

// Requires: all numbers are whole.
template <class T>
std::variant<Array, ArrayFault> narrow_whole(std::span<const double> numbers, const Shape& shape) {
  Array integers = Array::allocate(kDTypeOf<T>, shape);
  if (numbers.empty()) {
    return integers;
  }
  const auto [low, high] = std::ranges::minmax_element(numbers);
  // Both are powers of two, or zero, and so exact.
  const auto minimum = static_cast<double>(std::numeric_limits<T>::min());
  const double beyond_maximum = std::ldexp(1.0, std::numeric_limits<T>::digits);
  if (*low < minimum || *high >= beyond_maximum) {
    return out_of_range(kDTypeOf<T>, python_repr(*low < minimum ? *low : *high));
  }
  std::transform(numbers.begin(), numbers.end(), integers.mutable_values<T>().begin(),
                 [](double number) { return static_cast<T>(number); });
  return integers;
}

std::variant<Array, ArrayFault> to_integers(const NumberList& list, DType dtype, const Shape& shape) {
  const Array slots = slots_as(slot_dtype(list.kind), list, shape);
  const bool is_double = list.kind == NumberList::Kind::kFloat64;
  if (is_double && !are_whole(slots.values<double>())) {
    ArrayFault fault;
    fault.kind = ArrayFault::Kind::kExpectedInteger;
    return fault;
  }
  if (list.has_both_extremes) {
    const bool is_too_low = list.lowest < lowest_integer(dtype);
    return out_of_range(dtype, is_too_low ? std::to_string(list.lowest) : std::to_string(list.highest));
  }
  if (!is_double) {
    return cast(slots, dtype);
  }
  return visit_dtype(dtype, [&](auto element) -> std::variant<Array, ArrayFault> {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      return narrow_whole<T>(slots.values<double>(), shape);
    } else {
      return slots;
    }
  });
}

}  // namespace

Array to_array(const NumberList& list) {
  if (list.kind == NumberList::Kind::kBool) {
    return to_bools(list, list.shape);
  }
  return slots_as(slot_dtype(list.kind), list, list.shape);
}

std::variant<Array, ArrayFault> read_json_buffer(JsonScanner& scanner, DType dtype, const Shape& shape) {
  const std::optional<std::int64_t> count = element_count(shape);
  NumberListOptions options;
  // Where a double cannot be out of range, it need not be known what the numbers looked like.
  options.as_doubles = dtype == DType::kFloat64 || dtype == DType::kComplex128;
  // Narrower types cannot hold what the doubles would make inexact.
  options.keeps_integers = dtype == DType::kInt64 || dtype == DType::kUInt64;
  options.expected_count = static_cast<std::size_t>(count.value_or(0));
  const std::size_t begin = scanner.offset();
  const NumberList list = read_number_list(scanner, options);
  if (scanner.has_fault()) {
    return decode_fault(kEncoding, "no JSON");
  }
  if (list.ragged) {
    return decode_fault(kEncoding, *list.ragged);
  }
  if (!count || static_cast<std::uint64_t>(*count) != list.count) {
    return decode_fault(kEncoding, cannot_reshape(list.count, shape));
  }
  if (list.has_other) {
    return read_loose_numbers(scanner.text_since(begin), dtype, shape);
  }
  if (is_integer(dtype)) {
    return to_integers(list, dtype, shape);
  }
  if (dtype == DType::kBool) {
    return to_bools(list, shape);
  }
  return cast(slots_as(slot_dtype(list.kind), list, shape), dtype);
}

}  // namespace tessera
