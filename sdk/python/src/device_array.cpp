#include "device_array.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "arrays.h"
#include "dlpack_array.h"
#include "gil.h"
#include "tessera/sdk/client_options.h"

namespace tessera::python {
namespace {

// As DLPack numbers the kinds of memory.
constexpr int kDLPackCuda = 2;
// The driver's name of the legacy default stream, as `__dlpack__` takes it.
constexpr int kLegacyStream = 1;

[[noreturn]] void throw_value_error(const std::string& text) {
  PyErr_SetString(PyExc_ValueError, text.c_str());
  throw nb::python_error();
}

// The place of a GPU in the order of this process.
int ordinal_of(const Uuid& gpu) {
  const auto& gpus = shared_gpus()->gpus();
  for (std::size_t i = 0; i != gpus.size(); ++i) {
    if (gpus[i]->uuid() == gpu) {
      return static_cast<int>(i);
    }
  }
  throw_value_error("the array is on a GPU that this process does not see");
}

nb::tuple shape_tuple(const Shape& shape) {
  nb::list list;
  for (const std::int64_t size : shape) {
    list.append(size);
  }
  return nb::tuple(list);
}

nb::object cuda_array_interface(const DeviceArray& self) {
  const Array& array = self.array();
  nb::dict interface;
  interface["shape"] = shape_tuple(array.shape());
  interface["typestr"] = std::string(typestr_of(array.dtype())).c_str();
  interface["data"] = nb::make_tuple(array.device()->address(), false);
  interface["version"] = 3;
  interface["strides"] = nb::none();
  interface["stream"] = nb::none();  // what is in it is complete
  return interface;
}

// Where the result of `__dlpack__` goes if nobody takes it.
void drop_capsule(PyObject* capsule) {
  if (PyCapsule_IsValid(capsule, "dltensor") != 0) {
    auto* const tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor"));
    tensor->deleter(tensor);
  }
}

nb::tuple dlpack_device(const DeviceArray& self) {
  return nb::make_tuple(kDLPackCuda, ordinal_of(self.array().device()->gpu()));
}

[[noreturn]] void throw_buffer_error(const char* text) {
  PyErr_SetString(PyExc_BufferError, text);
  throw nb::python_error();
}

// What is in the array is complete, so that no stream has to wait; the first version of DLPack serves every caller.
nb::object to_capsule(const DeviceArray& self, nb::handle /*stream*/, nb::handle /*max_version*/, nb::handle device,
                      nb::handle copy) {
  if (copy.ptr() == Py_True) {
    throw_buffer_error("an array in GPU memory is not copied for DLPack; copy_to_host() copies it");
  }
  if (!device.is_none() && !nb::tuple(device).equal(dlpack_device(self))) {
    throw_buffer_error("an array in GPU memory is not moved to another device for DLPack; copy_to_host() copies it");
  }
  Result<DLManagedTensor*> tensor = dlpack_from_array(self.array());
  if (!tensor) {
    throw_value_error(tensor.error().message());
  }
  return nb::steal(PyCapsule_New(*tensor, "dltensor", drop_capsule));
}

nb::object copy_to_host(const DeviceArray& self) {
  Result<Array> host = Error(ErrorCode::kInternal, "");
  {
    const GilReleased released;
    host = self.array().to_host();
  }
  if (!host) {
    PyErr_SetString(PyExc_RuntimeError, host.error().message().c_str());
    throw nb::python_error();
  }
  return array_object(*std::move(host));
}

std::string repr(const DeviceArray& self) {
  const Array& array = self.array();
  std::string shape;
  for (const std::int64_t size : array.shape()) {
    shape += std::to_string(size) + ", ";
  }
  if (array.rank() > 1) {
    shape.resize(shape.size() - 2);
  } else if (array.rank() == 1) {
    shape.pop_back();
  }
  return "DeviceArray(shape=(" + shape + "), dtype=" + std::string(name_of(array.dtype())) +
         ", gpu=" + array.device()->gpu().text() + ")";
}

}  // namespace

std::string_view typestr_of(DType dtype) {
  static constexpr std::array<std::string_view, kDTypeCount> kNames = {
      "<f2", "<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|b1", "|u1", "<u2", "<u4", "<u8", "<c8", "<c16"};
  return kNames.at(static_cast<std::size_t>(dtype));
}

Array wrap_on_device(DType dtype, Shape shape, ForeignMemory memory) {
  Result<Array> array = shared_gpus()->wrap(dtype, std::move(shape), std::move(memory));
  if (!array) {
    throw UnusableArray(UnusableArray::Kind::kValue,
                        "an array in GPU memory cannot be used: " + array.error().message());
  }
  return *std::move(array);
}

bool is_on_gpu(nb::handle object) {
  return nb::cast<int>(nb::object(object.attr("__dlpack_device__")())[0]) == kDLPackCuda;
}

Array array_of_dlpack(nb::handle object) {
  const bool on_gpu = nb::hasattr(object, "__dlpack_device__") && is_on_gpu(object);
  const nb::object capsule =
      on_gpu ? object.attr("__dlpack__")(nb::arg("stream") = kLegacyStream) : object.attr("__dlpack__")();
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0) {
    const std::string type = nb::cast<std::string>(nb::str(object.type().attr("__name__")));
    throw UnusableArray(UnusableArray::Kind::kType,
                        "an object of type '" + type + "' cannot be sent: its __dlpack__ gives no unused tensor");
  }
  auto* const tensor = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  Result<Array> array = array_from_dlpack(tensor);
  if (!array) {
    throw UnusableArray(UnusableArray::Kind::kValue, "an array cannot be sent: " + array.error().message());
  }
  // From now on it is ours.
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  return *std::move(array);
}

void add_device_array(nb::module_& module) {
  nb::class_<DeviceArray>(module, "DeviceArray",
                          "An array in GPU memory, as a call handed it back. Freed when the last reference goes. "
                          "PyTorch, CuPy and JAX take it as it is: torch.as_tensor(array), cupy.asarray(array), "
                          "jax.dlpack.from_dlpack(array).")
      .def_prop_ro("shape", [](const DeviceArray& self) { return shape_tuple(self.array().shape()); })
      .def_prop_ro("dtype", [](const DeviceArray& self) { return std::string(name_of(self.array().dtype())); })
      .def_prop_ro("nbytes", [](const DeviceArray& self) { return self.array().size_bytes(); })
      .def_prop_ro("ndim", [](const DeviceArray& self) { return self.array().rank(); })
      .def_prop_ro("size", [](const DeviceArray& self) { return self.array().size(); })
      .def_prop_ro("gpu", [](const DeviceArray& self) { return self.array().device()->gpu().text(); })
      .def_prop_ro("__cuda_array_interface__", cuda_array_interface)
      .def("__dlpack__", to_capsule, nb::kw_only(), nb::arg("stream").none() = nb::none(),
           nb::arg("max_version").none() = nb::none(), nb::arg("dl_device").none() = nb::none(),
           nb::arg("copy").none() = nb::none())
      .def("__dlpack_device__", dlpack_device)
      .def("copy_to_host", copy_to_host, "A copy in host memory, as a NumPy array.")
      .def("__repr__", repr);
}

}  // namespace tessera::python
