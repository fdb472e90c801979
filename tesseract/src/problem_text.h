// The sentence of a problem, for texts about values that are no part of a request.
#pragma once

#include <string>

#include "tessera/tesseract/problem.h"

namespace tessera {

/// pydantic's message, e.g. "Input should be a valid integer".
[[nodiscard]] std::string message_of(const Problem& problem);
/// "less_than_equal", "array_shape_mismatch", …
[[nodiscard]] std::string_view type_of(const Problem& problem);
/// The place without the body around it: `inputs.layers.1.weights`.
[[nodiscard]] std::string text_of(const Place& place);

}  // namespace tessera
