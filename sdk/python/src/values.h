// Values of Python as ours, and the other way round.
#pragma once

#include <nanobind/nanobind.h>

#include "tessera/array/value.h"

namespace tessera::python {

namespace nb = nanobind;

/// None, bool, int (of 64 bits), float, str, list, tuple, dict, arrays, enumerations, and models (`model_dump`).
/// Requires the GIL. Throws nb::python_error (TypeError, ValueError, OverflowError) that names the place.
[[nodiscard]] Value value_of(nb::handle object);
/// The same for a dict.
[[nodiscard]] Object object_of(nb::handle dict);
/// Requires the GIL.
[[nodiscard]] nb::object python_value(const Value& value);

}  // namespace tessera::python
