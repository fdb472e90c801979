#include "tessera/array/array_reader.h"

#include <optional>
#include <utility>

#include "array_object.h"
#include "decode_fault.h"
#include "json_buffer.h"
#include "number_list.h"
#include "tessera/array/fit.h"

namespace tessera {
namespace {

using Read = std::variant<Array, ArrayFault>;

ArrayFault fault_of(ArrayFault::Kind kind) {
  ArrayFault fault;
  fault.kind = kind;
  return fault;
}

// Numbers or lists that are not in an array object. `as_doubles`: the field makes them doubles anyway.
Read read_bare(JsonScanner& scanner, bool as_doubles) {
  NumberListOptions options;
  options.as_doubles = as_doubles;
  const NumberList list = read_number_list(scanner, options);
  if (list.ragged) {
    ArrayFault fault = fault_of(ArrayFault::Kind::kRagged);
    fault.reason = *list.ragged;
    return fault;
  }
  if (list.has_other || scanner.has_fault()) {
    return fault_of(ArrayFault::Kind::kNonNumeric);
  }
  return to_array(list);
}

// Whether the array stays below the limit once it has the declared sizes and type.
bool is_within(const Array& array, const ArraySpec& spec, std::uint64_t limit_bytes) {
  Shape shape = array.shape();
  if (spec.shape && spec.shape->size() == shape.size()) {
    for (std::size_t axis = 0; axis != shape.size(); ++axis) {
      if ((*spec.shape)[axis] != kFreeAxis) {
        shape[axis] = (*spec.shape)[axis];
      }
    }
  }
  const std::optional<std::uint64_t> bytes = byte_count(shape, spec.dtype.value_or(array.dtype()));
  return bytes && *bytes <= limit_bytes;
}

// Why an array is not exactly what is declared.
std::optional<ArrayFault> find_difference(const Array& array, const ArraySpec& spec) {
  if (spec.shape) {
    ArrayFault fault = fault_of(ArrayFault::Kind::kShape);
    fault.actual_shape = array.shape();
    fault.expected_shape = *spec.shape;
    if (fault.actual_shape.size() != fault.expected_shape.size()) {
      fault.kind = ArrayFault::Kind::kDimensionality;
      return fault;
    }
    for (std::size_t axis = 0; axis != fault.expected_shape.size(); ++axis) {
      if (fault.expected_shape[axis] == kFreeAxis) {
        fault.expected_shape[axis] = fault.actual_shape[axis];
      }
    }
    if (fault.actual_shape != fault.expected_shape) {
      return fault;
    }
  }
  if (spec.dtype && *spec.dtype != array.dtype()) {
    ArrayFault fault = fault_of(ArrayFault::Kind::kDType);
    fault.actual_dtype = array.dtype();
    fault.expected_dtype = spec.dtype;
    return fault;
  }
  return std::nullopt;
}

}  // namespace

Read ArrayReader::read_uncast(JsonScanner& scanner, const ArraySpec& spec, bool as_doubles,
                              ArrayEncoding& encoding) const {
  switch (scanner.peek()) {
    case JsonKind::kObject:
      return read_array_object(scanner, {spec, files_, limits_.array_bytes, device_, limits_.accepts_raw}, encoding);
    case JsonKind::kList:
    case JsonKind::kNumber:
    case JsonKind::kTrue:
    case JsonKind::kFalse:
      return read_bare(scanner, as_doubles);
    case JsonKind::kNull:
    case JsonKind::kText:
    case JsonKind::kInvalid:
      break;
  }
  scanner.skip_value();
  return fault_of(ArrayFault::Kind::kNonNumeric);
}

Read ArrayReader::read_fitted(JsonScanner& scanner, const ArraySpec& spec, ArrayEncoding& encoding) const {
  // No double is out of these types' range, so it does not matter how the numbers were written.
  const bool as_doubles = spec.dtype == DType::kFloat64 || spec.dtype == DType::kComplex128;
  Read read = read_uncast(scanner, spec, as_doubles, encoding);
  if (auto* const array = std::get_if<Array>(&read)) {
    if (!is_within(*array, spec, limits_.array_bytes)) {
      return over_limit("json", spec.shape.value_or(array->shape()), spec.dtype.value_or(array->dtype()),
                        limits_.array_bytes);
    }
    return fit(std::move(*array), spec);
  }
  return read;
}

void ArrayReader::count(const Read& read, ArrayEncoding encoding) const {
  if (tally_ == nullptr) {
    return;
  }
  if (const auto* const array = std::get_if<Array>(&read)) {
    tally_->add(encoding, array->size_bytes());
  } else {
    tally_->is_over_limit = tally_->is_over_limit || std::get<ArrayFault>(read).is_over_limit;
  }
}

Read ArrayReader::read(JsonScanner& scanner, const ArraySpec& spec) const {
  ArrayEncoding encoding = ArrayEncoding::kJson;
  Read read = read_fitted(scanner, spec, encoding);
  count(read, encoding);
  return read;
}

Read ArrayReader::read_exactly(JsonScanner& scanner, const ArraySpec& spec) const {
  ArrayEncoding encoding = ArrayEncoding::kJson;
  Read read = read_uncast(scanner, spec, false, encoding);
  if (const auto* const array = std::get_if<Array>(&read)) {
    if (std::optional<ArrayFault> difference = find_difference(*array, spec)) {
      return *std::move(difference);
    }
  }
  count(read, encoding);
  return read;
}

}  // namespace tessera
