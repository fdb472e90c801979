#include "values.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arrays.h"

namespace tessera::python {
namespace {

// As the daemon reads them; Python's own limit of recursion is larger.
constexpr std::size_t kMaxDepth = 512;

class ValueMaker {
 public:
  Value make(nb::handle object) {
    PyObject* const raw = object.ptr();
    if (raw == Py_None) {
      return nullptr;
    }
    if (PyBool_Check(raw)) {
      return raw == Py_True;
    }
    if (PyLong_CheckExact(raw)) {
      return integer(object);
    }
    if (PyFloat_CheckExact(raw)) {
      return PyFloat_AsDouble(raw);
    }
    if (PyUnicode_Check(raw)) {
      return text(object);
    }
    if (PyDict_Check(raw)) {
      return dict(object);
    }
    if (PyList_Check(raw)) {
      return list(object, PyList_Size(raw), PyList_GetItem);
    }
    if (PyTuple_Check(raw)) {
      return list(object, PyTuple_Size(raw), PyTuple_GetItem);
    }
    return other(object);
  }

  Object dict(nb::handle object) {
    Depth depth(*this);
    Object result;
    PyObject* key = nullptr;
    PyObject* item = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(object.ptr(), &position, &key, &item) != 0) {
      if (!PyUnicode_Check(key)) {
        fail(PyExc_TypeError, "a key is a " + type_of(key) + ", not a str");
      }
      std::string name = text(key);
      place_.push_back(name);
      // The item may be replaced while it is looked at.
      Value value = make(nb::borrow(item));
      place_.pop_back();
      result.set(std::move(name), std::move(value));
    }
    return result;
  }

 private:
  // Bounds how deep values are nested.
  class Depth {
   public:
    explicit Depth(ValueMaker& maker) : maker_(maker) {
      if (++maker_.depth_ > kMaxDepth) {
        maker_.fail(PyExc_ValueError, "values are nested more than " + std::to_string(kMaxDepth) + " deep");
      }
    }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;
    ~Depth() { --maker_.depth_; }

   private:
    ValueMaker& maker_;
  };

  static std::string type_of(nb::handle object) {
    return nb::cast<std::string>(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(object.ptr()))).attr("__name__"));
  }

  [[noreturn]] void fail(PyObject* kind, const std::string& why) const {
    std::string where;
    for (const std::string& part : place_) {
      where += (where.empty() ? "" : ".") + part;
    }
    PyErr_SetString(kind, (where.empty() ? why : where + ": " + why).c_str());
    throw nb::python_error();
  }

  Value integer(nb::handle object) const {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
    if (overflow == 0) {
      return number;
    }
    const unsigned long long large = PyLong_AsUnsignedLongLong(object.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      fail(PyExc_OverflowError, "an int has more than 64 bits");
    }
    return static_cast<unsigned long>(large);
  }

  std::string text(nb::handle object) const {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (bytes == nullptr) {
      PyErr_Clear();
      fail(PyExc_ValueError, "a str holds half a surrogate pair");
    }
    return {bytes, static_cast<std::size_t>(size)};
  }

  template <class Get>
  Value list(nb::handle object, Py_ssize_t size, Get get) {
    Depth depth(*this);
    List result;
    result.reserve(static_cast<std::size_t>(size));
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject* const item = get(object.ptr(), i);
      if (item == nullptr) {
        throw nb::python_error();  // it became shorter meanwhile
      }
      place_.push_back(std::to_string(i));
      result.push_back(make(nb::borrow(item)));
      place_.pop_back();
    }
    return result;
  }

  Value other(nb::handle object) {
    if (std::optional<Array> array = find_array(object)) {
      return *std::move(array);
    }
    if (nb::hasattr(object, "model_dump")) {
      return make(nb::object(object.attr("model_dump")()));
    }
    // An enumeration stands for its value.
    static PyObject* const kEnum = nb::object(nb::module_::import_("enum").attr("Enum")).release().ptr();
    if (PyObject_IsInstance(object.ptr(), kEnum) == 1) {
      return make(nb::object(object.attr("value")));
    }
    if (PyLong_Check(object.ptr())) {
      return integer(object);
    }
    if (PyFloat_Check(object.ptr())) {
      return PyFloat_AsDouble(object.ptr());
    }
    if (PyObject_HasAttrString(object.ptr(), "__fspath__") != 0) {
      return make(nb::object(object.attr("__fspath__")()));
    }
    fail(PyExc_TypeError, "a " + type_of(object) + " cannot be sent");
  }

  std::vector<std::string> place_;
  std::size_t depth_ = 0;
};

nb::object python_text(std::string_view text) {
  // Half a surrogate pair may come as three bytes of its own.
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass"));
}

}  // namespace

Value value_of(nb::handle object) {
  return ValueMaker().make(object);
}

Object object_of(nb::handle dict) {
  if (!PyDict_Check(dict.ptr())) {
    Value value = value_of(dict);  // a model, perhaps
    if (value.kind() == Value::Kind::kObject) {
      return std::move(value.object());
    }
    PyErr_SetString(PyExc_TypeError, "inputs are a dict");
    throw nb::python_error();
  }
  return ValueMaker().dict(dict);
}

nb::object python_value(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return nb::none();
    case Value::Kind::kBool:
      return nb::bool_(value.boolean());
    case Value::Kind::kInt:
      return nb::steal(PyLong_FromLongLong(value.integer()));
    case Value::Kind::kUInt:
      return nb::steal(PyLong_FromUnsignedLongLong(value.unsigned_integer()));
    case Value::Kind::kDouble:
      return nb::steal(PyFloat_FromDouble(value.number()));
    case Value::Kind::kText:
      return python_text(value.text());
    case Value::Kind::kList: {
      nb::list list;
      for (const Value& item : value.list()) {
        list.append(python_value(item));
      }
      return list;
    }
    case Value::Kind::kObject: {
      nb::dict dict;
      for (const Object::Member& member : value.object().members()) {
        const nb::object key = python_text(member.key);
        const nb::object item = python_value(member.value);
        if (PyDict_SetItem(dict.ptr(), key.ptr(), item.ptr()) != 0) {
          throw nb::python_error();
        }
      }
      return dict;
    }
    case Value::Kind::kArray:
      return array_object(value.array());
  }
  return nb::none();
}

}  // namespace tessera::python
