// Makes an array what a field declares, or says why it cannot be (PROTOCOL.md section 6.2).
#pragma once

#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"

namespace tessera {

/// Checks rank, shape, dtype and values in that order, casts, and stretches axes of size one to declared sizes. Costs
/// nothing but the checks if the array is already what is declared. In an error of shape, a free axis of the
/// declaration is shown as the array's own size. An array in GPU memory is neither cast nor stretched. Throws
/// std::bad_alloc, and std::invalid_argument if the stretched shape cannot be held. Safe to call from any thread, like
/// the others here.
[[nodiscard]] std::variant<Array, ArrayFault> fit(Array array, const ArraySpec& spec);

/// Casts every element. Faults: kDType if !is_castable(array.dtype(), to); kOutOfRange as step 4 of PROTOCOL.md section
/// 6.2 says. Without data only the dtype changes. Throws std::bad_alloc.
[[nodiscard]] std::variant<Array, ArrayFault> cast(Array array, DType to);

/// Repeats along axes of size one. Requires: each size of the array is 1 or that of `shape`, ranks equal.
/// Without data only the shape changes. Throws as fit() does.
[[nodiscard]] Array broadcast(const Array& array, const Shape& shape);

}  // namespace tessera
