// The class Client: what the package's Tesseract is made of.
#pragma once

#include <nanobind/nanobind.h>

namespace tessera::python {

/// Adds the class, and the exception that it throws. Requires the GIL.
void add_client(nanobind::module_& module);

}  // namespace tessera::python
