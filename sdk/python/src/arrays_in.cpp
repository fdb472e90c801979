// Python's arrays as ours.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"
#include "device_array.h"
#include "gil.h"
#include "owners.h"
#include "tessera/base/checked_math.h"
#include "tessera/sdk/client_options.h"

namespace tessera::python {
namespace {

// A buffer (PEP 3118) that is held; given back on whatever thread.
class HeldBuffer {
 public:
  HeldBuffer() = default;
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  ~HeldBuffer() {
    if (view_.obj != nullptr) {
      try_with_gil([this] { PyBuffer_Release(&view_); });
    }
  }
  // False if the object has none in this form.
  bool take(nb::handle object, int flags) {
    if (PyObject_GetBuffer(object.ptr(), &view_, flags) == 0) {
      return true;
    }
    PyErr_Clear();
    view_.obj = nullptr;
    return false;
  }
  [[nodiscard]] const Py_buffer& view() const { return view_; }

 private:
  Py_buffer view_{};
};

// The element type of a format of PEP 3118, of this byte order; nothing for others.
std::optional<DType> dtype_of_format(std::string_view format, std::size_t item_bytes) {
  if (!format.empty() && (format.front() == '@' || format.front() == '=' || format.front() == '<')) {
    format.remove_prefix(1);
  }
  const auto sized = [&](std::array<DType, 4> by_size) -> std::optional<DType> {
    switch (item_bytes) {
      case 1:
        return by_size[0];
      case 2:
        return by_size[1];
      case 4:
        return by_size[2];
      case 8:
        return by_size[3];
      default:
        return std::nullopt;
    }
  };
  if (format == "Zf" || format == "Zd") {
    return format == "Zf" ? DType::kComplex64 : DType::kComplex128;
  }
  if (format.size() != 1) {
    return std::nullopt;
  }
  switch (format.front()) {
    case '?':
      return DType::kBool;
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
      return sized({DType::kInt8, DType::kInt16, DType::kInt32, DType::kInt64});
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
      return sized({DType::kUInt8, DType::kUInt16, DType::kUInt32, DType::kUInt64});
    case 'e':
      return DType::kFloat16;
    case 'f':
      return DType::kFloat32;
    case 'd':
      return DType::kFloat64;
    default:
      return std::nullopt;
  }
}

// Whether memory can be read as elements of a type as it lies. Where there are no elements, it may lie anywhere.
bool is_usable(const Py_buffer& view, DType dtype) {
  const std::size_t alignment = std::min<std::size_t>(item_size_bytes(dtype), 8);
  return static_cast<std::size_t>(view.itemsize) == item_size_bytes(dtype) &&
         (view.len == 0 || reinterpret_cast<std::uintptr_t>(view.buf) % alignment == 0);
}

// Scalars of NumPy have a buffer without axes; those that are no numbers (datetime64, void) show their bytes instead.
bool is_bytes_of_scalar(nb::handle object, const Py_buffer& view) {
  return view.ndim != 0 && view.itemsize == 1 && numpy() &&
         PyObject_IsInstance(object.ptr(), nb::object(numpy().attr("generic")).ptr()) == 1;
}

std::optional<Array> array_of_buffer(nb::handle object) {
  auto held = std::make_shared<HeldBuffer>();
  if (!held->take(object, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
    return std::nullopt;
  }
  const Py_buffer& view = held->view();
  const std::optional<DType> dtype =
      dtype_of_format(view.format == nullptr ? "B" : view.format, static_cast<std::size_t>(view.itemsize));
  if (!dtype || !is_usable(view, *dtype) || is_bytes_of_scalar(object, view)) {
    return std::nullopt;
  }
  Shape shape(view.shape, view.shape + view.ndim);
  if (view.len == 0) {
    return Array::allocate(*dtype, std::move(shape));
  }
  const auto size = static_cast<std::size_t>(view.len);
  auto* const data = static_cast<std::byte*>(view.buf);
  return Array::wrap(*dtype, std::move(shape), Buffer::adopt(std::move(held), data, size));
}

[[noreturn]] void refuse_array(nb::handle object, const std::string& why) {
  const std::string type = nb::cast<std::string>(nb::handle(Py_TYPE(object.ptr())).attr("__name__"));
  throw UnusableArray(UnusableArray::Kind::kType, "an object of type '" + type + "' cannot be sent: " + why);
}

// Reads what an object says of its memory, which may be anything.
template <class Work>
auto read_claims(nb::handle object, Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_cast&) {
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_LookupError) && !error.matches(PyExc_TypeError) && !error.matches(PyExc_OverflowError)) {
      throw;
    }
  }
  refuse_array(object, "what it says of its memory is malformed");
}

// What NumPy makes of an object, in C order and this byte order.
Array array_through_numpy(nb::handle object) {
  if (!numpy()) {
    refuse_array(object, "its memory is not in C order, or not of this byte order, and NumPy is not installed");
  }
  nb::object array = numpy().attr("asanyarray")(object);
  nb::object dtype = array.attr("dtype");
  if (!nb::cast<bool>(dtype.attr("isnative"))) {
    dtype = dtype.attr("newbyteorder")("=");
  }
  // ascontiguousarray() would make an array of rank one of a rank of zero.
  array = numpy().attr("require")(array, dtype, nb::make_tuple("C", "A"));
  if (std::optional<Array> read = array_of_buffer(array)) {
    return *std::move(read);
  }
  refuse_array(object, "arrays of dtype " + nb::cast<std::string>(nb::str(dtype)) + " are not part of the protocol");
}

std::optional<DType> dtype_of_typestr(std::string_view typestr) {
  if (typestr.size() < 3 || typestr.front() == '>') {
    return std::nullopt;
  }
  const std::string_view kind = typestr.substr(1);
  for (const DType dtype : all_dtypes()) {
    if (kind == typestr_of(dtype).substr(1)) {
      return dtype;
    }
  }
  return std::nullopt;
}

// GPU memory by `__cuda_array_interface__`.
Array array_of_cuda_interface(nb::handle object, nb::handle interface) {
  const auto typestr = nb::cast<std::string>(interface["typestr"]);
  const std::optional<DType> dtype = dtype_of_typestr(typestr);
  if (!dtype) {
    refuse_array(object, "arrays of type " + typestr + " are not part of the protocol");
  }
  const nb::dict members = nb::cast<nb::dict>(interface);
  if (members.contains("mask") && !members["mask"].is_none()) {
    refuse_array(object, "it has a mask");
  }
  ForeignMemory memory;
  memory.address = nb::cast<std::uint64_t>(nb::object(interface["data"])[0]);
  memory.owner = owner_of(object);
  auto shape = nb::cast<std::vector<std::int64_t>>(nb::object(interface["shape"]));
  if (members.contains("strides") && !members["strides"].is_none()) {
    memory.strides_bytes = nb::cast<std::vector<std::int64_t>>(members["strides"]);
  }
  if (members.contains("stream") && !members["stream"].is_none()) {
    // 1 and 2 are the driver's own names of the default streams, everything else is a CUstream.
    memory.stream = reinterpret_cast<void*>(nb::cast<std::uintptr_t>(members["stream"]));
  }
  return wrap_on_device(*dtype, std::move(shape), std::move(memory));
}

// A tensor of PyTorch that takes part in gradients refuses both protocols; its values are what is sent.
nb::object without_gradient(nb::handle object) {
  nb::object requires_grad = nb::getattr(object, "requires_grad", nb::none());
  if (requires_grad.ptr() == Py_True) {
    return object.attr("detach")();
  }
  return nb::borrow(object);
}

}  // namespace

nb::handle numpy() {
  // Looked for once; the reference is kept for the life of the process.
  static PyObject* const kModule = [] {
    PyObject* const module = PyImport_ImportModule("numpy");
    if (module == nullptr) {
      PyErr_Clear();
    }
    return module;
  }();
  return kModule;
}

std::optional<Array> find_array(nb::handle given) {
  if (nb::isinstance<DeviceArray>(given)) {
    return nb::cast<const DeviceArray&>(given).array();
  }
  const bool is_buffer =
      PyObject_CheckBuffer(given.ptr()) != 0 && PyBytes_Check(given.ptr()) == 0 && PyByteArray_Check(given.ptr()) == 0;
  // Most of what comes is an array of NumPy as it is sent. Arrays of JAX are buffers, too, but on a GPU give none.
  if (is_buffer) {
    if (std::optional<Array> read = array_of_buffer(given)) {
      return read;
    }
  }
  const nb::object object = without_gradient(given);
  if (const nb::object interface = nb::getattr(object, "__cuda_array_interface__", nb::object());
      interface.is_valid()) {
    const bool tells_stream = read_claims(object, [&] { return nb::cast<nb::dict>(interface).contains("stream"); });
    // Older forms of the interface say nothing of streams; DLPack lets the other side wait for its own.
    if (!tells_stream && nb::hasattr(object, "__dlpack__")) {
      return array_of_dlpack(object);
    }
    return read_claims(object, [&] { return array_of_cuda_interface(object, interface); });
  }
  if (nb::hasattr(object, "__dlpack_device__") && read_claims(object, [&] { return is_on_gpu(object); })) {
    return array_of_dlpack(object);
  }
  if (is_buffer || nb::hasattr(object, "__array__")) {
    return array_through_numpy(object);
  }
  if (nb::hasattr(object, "__dlpack__")) {
    return array_of_dlpack(object);
  }
  return std::nullopt;
}

}  // namespace tessera::python
