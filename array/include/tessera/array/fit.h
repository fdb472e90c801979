// Makes an array what a field declares, or says why it cannot be (PROTOCOL.md section 6.2).
#pragma once

#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"

namespace tessera {

/// Checks rank, shape, dtype and values in that order, casts, and stretches axes of size one to declared sizes. Costs
/// nothing but the checks if the array is already what is declared. In an error of shape, a free axis of the
/// declaration is shown as the array's own size. An array in GPU memory is neither cast nor stretched.
[[nodiscard]] std::variant<Array, ArrayFault> fit(Array array, const ArraySpec& spec);

/// Casts every element; kOutOfRange as step 4 of that section says, with `to` in it. Complex to real is not possible:
/// Requires: is_castable(array.dtype(), to).
[[nodiscard]] std::variant<Array, ArrayFault> cast(Array array, DType to);

/// Repeats along axes of size one. Requires: each size of the array is 1 or that of `shape`, ranks equal.
[[nodiscard]] Array broadcast(const Array& array, const Shape& shape);

}  // namespace tessera
