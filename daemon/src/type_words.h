// Types of a schema in words for people, and an example of what they accept.
#pragma once

#include <string>

#include "tessera/array/value.h"
#include "tessera/tesseract/schema.h"
#include "tessera/tesseract/type.h"

namespace tessera {

/// "float64 array of shape (any, 3), differentiable", "integer from 0 to 100, or null".
[[nodiscard]] std::string words_for(const Type& type);

/// An object that a schema accepts, with its required fields alone, as JSON. Rules across fields are not looked at.
[[nodiscard]] std::string example_json(const Schema& schema);

/// A value as JSON; arrays as bare numbers and lists.
[[nodiscard]] std::string plain_json(const Value& value);

}  // namespace tessera
