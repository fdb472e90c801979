// The shapes-only form of arrays, which abstract_eval passes around (PROTOCOL.md section 4.4).
#pragma once

#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/value.h"
#include "tessera/tesseract/problem.h"

namespace tessera {

/// How arrays stand in a value: with their elements, or as shape and dtype alone.
enum class ArrayForm { kValues, kShapes };

/// Makes an array without elements that has the declared dtype, or says why it cannot be: rank and declared sizes must
/// be met exactly, the dtype must be castable. The problem has no place and no input yet.
[[nodiscard]] std::variant<Array, Problem> make_shape(DType dtype, const Shape& shape, const ArraySpec& spec);

/// Takes the elements out of every array in a value.
void drop_elements(Value& value);

}  // namespace tessera
