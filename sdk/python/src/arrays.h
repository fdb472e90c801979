// Arrays of Python as ours, and the other way round.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <stdexcept>
#include <string>

#include "tessera/array/array.h"

namespace tessera::python {

namespace nb = nanobind;

/// An array that cannot be sent, and why. Whoever knows where it stands makes an exception of Python of it.
class UnusableArray : public std::runtime_error {
 public:
  enum class Kind { kType, kValue };
  UnusableArray(Kind kind, const std::string& why) : std::runtime_error(why), kind_(kind) {}
  /// Whether it is a TypeError, or else a ValueError.
  [[nodiscard]] bool is_type_error() const { return kind_ == Kind::kType; }

 private:
  Kind kind_;
};

/// The array that a Python object holds, if it is one: a NumPy array or scalar, anything with `__array__`,
/// `__cuda_array_interface__`, `__dlpack__` or a buffer. Memory in C order is shared, and kept alive; other memory is
/// copied. Requires the GIL. Throws UnusableArray for arrays that cannot be sent, and what the object's methods raise.
[[nodiscard]] std::optional<Array> find_array(nb::handle object);

/// An array for Python: a NumPy array (a memoryview where NumPy is not installed) that shares the memory, or a
/// DeviceArray. Requires the GIL.
[[nodiscard]] nb::object array_object(Array array);

/// The NumPy module, or an empty handle where it is not installed. Requires the GIL.
[[nodiscard]] nb::handle numpy();

/// Adds the classes Memory and DeviceArray. Requires the GIL.
void add_array_classes(nb::module_& module);

}  // namespace tessera::python
