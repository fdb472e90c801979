// Our arrays as Python's.
#include <nanobind/nanobind.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "device_array.h"

namespace tessera::python {
namespace {

// The memory of a host array, which NumPy's arrays and memoryviews lie on.
struct Memory {
  Array array;
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

// Formats of PEP 3118, by dtype.
const char* format_of(DType dtype) {
  static constexpr std::array<const char*, kDTypeCount> kFormats = {"e", "f", "d", "b", "h", "i",  "q",
                                                                    "?", "B", "H", "I", "Q", "Zf", "Zd"};
  return kFormats.at(static_cast<std::size_t>(dtype));
}

int get_buffer(PyObject* exporter, Py_buffer* view, int flags) {
  auto* const memory = nb::inst_ptr<Memory>(exporter);
  const Array& array = memory->array;
  // An array without elements has no memory, but a buffer may not be null.
  static std::byte nothing{};
  view->buf = array.size_bytes() == 0 ? &nothing : array.buffer().data();
  view->obj = Py_NewRef(exporter);
  view->len = static_cast<Py_ssize_t>(array.size_bytes());
  view->itemsize = static_cast<Py_ssize_t>(item_size_bytes(array.dtype()));
  view->readonly = 0;
  view->ndim = static_cast<int>(memory->shape.size());
  view->format = (flags & PyBUF_FORMAT) != 0 ? const_cast<char*>(format_of(array.dtype())) : nullptr;
  view->shape = (flags & PyBUF_ND) != 0 ? memory->shape.data() : nullptr;
  view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? memory->strides.data() : nullptr;
  view->suboffsets = nullptr;
  view->internal = nullptr;
  return 0;
}

PyType_Slot memory_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)}, {0, nullptr}};

Memory memory_of(Array array) {
  Memory memory;
  memory.shape.assign(array.shape().begin(), array.shape().end());
  memory.strides.resize(memory.shape.size());
  auto stride = static_cast<Py_ssize_t>(item_size_bytes(array.dtype()));
  for (std::size_t axis = memory.shape.size(); axis-- != 0;) {
    memory.strides[axis] = stride;
    stride *= std::max<Py_ssize_t>(memory.shape[axis], 1);
  }
  memory.array = std::move(array);
  return memory;
}

// NumPy's dtype of that name; kept for the life of the process.
nb::handle numpy_dtype(DType dtype) {
  static std::array<PyObject*, kDTypeCount> known{};
  PyObject*& entry = known.at(static_cast<std::size_t>(dtype));
  if (entry == nullptr) {
    const std::string name(name_of(dtype));
    entry = numpy().attr("dtype")(name.c_str()).release().ptr();
  }
  return entry;
}

}  // namespace

nb::object array_object(Array array) {
  if (array.is_on_device()) {
    return nb::cast(DeviceArray(std::move(array)));
  }
  const DType dtype = array.dtype();
  nb::object memory = nb::cast(memory_of(std::move(array)));
  if (!numpy()) {
    return nb::steal(PyMemoryView_FromObject(memory.ptr()));
  }
  static PyObject* const kNdArray = nb::object(numpy().attr("ndarray")).release().ptr();
  const Memory& held = nb::cast<const Memory&>(memory);
  nb::object shape = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(held.shape.size())));
  for (std::size_t axis = 0; axis != held.shape.size(); ++axis) {
    PyTuple_SetItem(shape.ptr(), static_cast<Py_ssize_t>(axis), PyLong_FromSsize_t(held.shape[axis]));
  }
  return nb::handle(kNdArray)(shape, numpy_dtype(dtype), memory);
}

void add_array_classes(nb::module_& module) {
  nb::class_<Memory>(module, "Memory", nb::type_slots(memory_slots));
  add_device_array(module);
}

}  // namespace tessera::python
