// Arrays of Python as ours, and the other way round.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>

#include "tessera/array/array.h"

namespace tessera::python {

namespace nb = nanobind;

/// The array that a Python object holds, if it is one: a NumPy array or scalar, anything with `__array__`,
/// `__cuda_array_interface__`, `__dlpack__` or a buffer. Memory in C order is shared, and kept alive; other memory is
/// copied. Requires the GIL. Throws nb::python_error (TypeError, ValueError) for arrays that cannot be sent.
[[nodiscard]] std::optional<Array> find_array(nb::handle object);

/// An array for Python: a NumPy array (a memoryview where NumPy is not installed) that shares the memory, or a
/// DeviceArray. Requires the GIL.
[[nodiscard]] nb::object array_object(Array array);

/// The NumPy module, or an empty handle where it is not installed. Requires the GIL.
[[nodiscard]] nb::handle numpy();

/// Adds the classes Memory and DeviceArray. Requires the GIL.
void add_array_classes(nb::module_& module);

}  // namespace tessera::python
