// The extension module tessera._native.
#include <nanobind/nanobind.h>

#include "arrays.h"
#include "client.h"
#include "gil.h"

NB_MODULE(_native, module) {
  module.doc() = "The C++ SDK of tessera; use the package tessera.";
  // What a program holds until it ends is not worth a message.
  nanobind::set_leak_warnings(false);
  tessera::python::watch_for_the_end(module);
  tessera::python::add_array_classes(module);
  tessera::python::add_client(module);
}
