// Json buffers in which not all leaves are numbers: texts that hold numbers, nulls, objects, endless integers.
#pragma once

#include <string_view>
#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"

namespace tessera {

/// Converts the leaves of a JSON value, in order, as NumPy converts an array of texts or of Python objects to `dtype`.
/// Requires: `value` was scanned without fault and has as many leaves as the shape has elements.
[[nodiscard]] std::variant<Array, ArrayFault> read_loose_numbers(std::string_view value, DType dtype,
                                                                 const Shape& shape);

}  // namespace tessera
