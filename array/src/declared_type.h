// The shape and the element type that an array object declares of itself.
#pragma once

#include <optional>

#include "tessera/array/dtype.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/shape.h"

namespace tessera {

/// Reads the value of "shape": a list of whole numbers, in which `declared` admits each size; sizes beyond 64 bits
/// are cut. Nothing if it is something else; the value is passed in any case.
[[nodiscard]] std::optional<Shape> read_shape(JsonScanner& scanner, const std::optional<Shape>& declared);

/// Reads the value of "dtype": a name that can be cast to `declared`. Nothing if it is something else.
[[nodiscard]] std::optional<DType> read_dtype(JsonScanner& scanner, std::optional<DType> declared);

}  // namespace tessera
