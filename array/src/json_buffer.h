// The buffer of a json array object: lists of numbers, numbers in texts, nulls (PROTOCOL.md sections 5.1 and 6.2).
#pragma once

#include <variant>

#include "number_list.h"
#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"
#include "tessera/array/json_scanner.h"

namespace tessera {

/// Reads the value that stands at the scanner into an array of this type and shape; the scanner stands behind it
/// afterwards, and its faults win. Requires: no size is negative. Throws std::bad_alloc.
[[nodiscard]] std::variant<Array, ArrayFault> read_json_buffer(JsonScanner& scanner, DType dtype, const Shape& shape);

/// The elements of a list as an array of its own shape and of the type that NumPy would infer.
/// Requires: the list is neither ragged nor has other leaves, and its integers were not kept.
[[nodiscard]] Array to_array(const NumberList& list);

}  // namespace tessera
