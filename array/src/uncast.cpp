#include "uncast.h"

#include <algorithm>

namespace tessera {

std::optional<ArrayFault> find_uncast_misfit(DType dtype, const Shape& shape, const ArraySpec& spec,
                                             std::string_view reason) {
  const auto is_fitting = [](std::int64_t actual, std::int64_t declared) {
    return declared == kFreeAxis || actual == declared;
  };
  ArrayFault fault;
  if (spec.shape && !std::ranges::equal(shape, *spec.shape, is_fitting)) {
    fault.kind = ArrayFault::Kind::kShape;
    fault.actual_shape = shape;
    fault.expected_shape = *spec.shape;
    return fault;
  }
  if (spec.dtype && *spec.dtype != dtype) {
    fault.kind = ArrayFault::Kind::kDType;
    fault.actual_dtype = dtype;
    fault.expected_dtype = spec.dtype;
    fault.reason = reason;
    return fault;
  }
  return std::nullopt;
}

}  // namespace tessera
