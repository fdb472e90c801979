// Values of Python as ours, and the other way round.
#pragma once

#include <nanobind/nanobind.h>

#include "tessera/array/value.h"

namespace tessera::python {

namespace nb = nanobind;

/// None, bool, int (of 64 bits), float, str, list, tuple, dict and other mappings, arrays, enumerations, models
/// (`model_dump`), dataclasses, paths, dates, times and UUIDs. Requires the GIL. Throws nb::python_error (TypeError,
/// ValueError) that names the place; what the methods of an object raise gets a note of it.
[[nodiscard]] Value value_of(nb::handle object);
/// The same for a dict.
[[nodiscard]] Object object_of(nb::handle dict);
/// Requires the GIL.
[[nodiscard]] nb::object python_value(const Value& value);

}  // namespace tessera::python
