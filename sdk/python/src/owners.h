// Python objects that C++ keeps alive.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>

#include "gil.h"

namespace tessera::python {

/// A share in an object, which may be dropped on any thread. Requires the GIL.
[[nodiscard]] inline std::shared_ptr<void> owner_of(nanobind::handle object) {
  object.inc_ref();
  return {object.ptr(), [](PyObject* owned) { try_with_gil([owned] { Py_DECREF(owned); }); }};
}

}  // namespace tessera::python
