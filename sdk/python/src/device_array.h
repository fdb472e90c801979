// Arrays in GPU memory, for Python and from it.
#pragma once

#include <nanobind/nanobind.h>

#include <string_view>
#include <utility>

#include "tessera/array/array.h"
#include "tessera/ipc/gpu_system.h"

namespace tessera::python {

namespace nb = nanobind;

/// What a call hands back for an array that stayed on the GPU. Immutable.
class DeviceArray {
 public:
  explicit DeviceArray(Array array) : array_(std::move(array)) {}
  [[nodiscard]] const Array& array() const { return array_; }

 private:
  Array array_;
};

/// The type as the array interfaces write it: "<f4", "|b1".
[[nodiscard]] std::string_view typestr_of(DType dtype);
/// An array over GPU memory of another library. Throws UnusableArray if the driver does not know it.
[[nodiscard]] Array wrap_on_device(DType dtype, Shape shape, ForeignMemory memory);
/// Whether `__dlpack_device__` names a GPU of CUDA. Requires the GIL, like the next two.
[[nodiscard]] bool is_on_gpu(nb::handle object);
/// The array that `__dlpack__` gives. Throws UnusableArray, and what `__dlpack__` raises.
[[nodiscard]] Array array_of_dlpack(nb::handle object);
void add_device_array(nb::module_& module);

}  // namespace tessera::python
