// The buffer of a json array object: nested lists, formatted straight into the text of a body.
#pragma once

#include "tessera/array/array.h"
#include "tessera/array/body.h"
#include "tessera/base/result.h"

namespace tessera {

/// Appends the elements as nested lists, a bare element for rank zero. Errors: kTooLarge for an empty array whose
/// other sizes call for an absurd number of brackets. Requires: array.has_data().
[[nodiscard]] Status write_json_elements(const Array& array, Body& body);

}  // namespace tessera
