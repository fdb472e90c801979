// Arrays out of numbers and nested lists that C++ code gives where an array is declared.
#pragma once

#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"
#include "tessera/array/value.h"

namespace tessera {

/// Makes an array of a number, a boolean or nested lists of them, of the narrowest kind that holds all
/// (PROTOCOL.md section 6.1): bool, int64, uint64, float64.
[[nodiscard]] std::variant<Array, ArrayFault> make_bare_array(const Value& value);

}  // namespace tessera
