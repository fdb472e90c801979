#include "values.h"

#include <nanobind/stl/string.h>

#include <algorithm>
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
        fail(PyExc_TypeError, "a key is of type '" + type_of(key) + "', not a str");
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

  // "inputs.a.0"; of a long way only both ends.
  [[nodiscard]] std::string where() const {
    constexpr std::size_t kEndsShown = 8;
    std::string text;
    for (std::size_t i = 0; i != place_.size(); ++i) {
      if (place_.size() > 2 * kEndsShown && i == kEndsShown) {
        text += ".[...]";
        i = place_.size() - kEndsShown;
      }
      text += (text.empty() ? "" : ".") + place_[i];
    }
    return text;
  }

  [[noreturn]] void fail(PyObject* kind, const std::string& why) const {
    const std::string place = where();
    PyErr_SetString(kind, (place.empty() ? why : place + ": " + why).c_str());
    throw nb::python_error();
  }

  // Runs what calls methods of a foreign object; their exceptions pass through, with a note of the place.
  template <class Work>
  auto with_place(Work work) const -> decltype(work()) {
    try {
      return work();
    } catch (const UnusableArray& error) {
      fail(error.is_type_error() ? PyExc_TypeError : PyExc_ValueError, error.what());
    } catch (const nb::python_error& error) {
      if (const std::string place = where(); !place.empty()) {
        error.value().attr("add_note")(("while sending " + place).c_str());
      }
      throw;
    }
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
      fail(PyExc_TypeError, "an int has more than 64 bits");
    }
    return static_cast<unsigned long>(large);
  }

  std::string text(nb::handle object) const {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(object.ptr(), &size);
    if (bytes == nullptr) {
      PyErr_Clear();
      fail(PyExc_TypeError, "a str holds half a surrogate pair");
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
    // A class has the methods of its objects, but is none of them.
    if (PyType_Check(object.ptr())) {
      fail(PyExc_TypeError, "a class cannot be sent");
    }
    if (std::optional<Array> array = with_place([&] { return find_array(object); })) {
      return *std::move(array);
    }
    // What an object stands for may be such an object again.
    Depth depth(*this);
    if (nb::hasattr(object, "model_dump")) {
      return stand_in([&] { return object.attr("model_dump")(); });
    }
    if (is_a(object, "enum", "Enum")) {
      return stand_in([&] { return object.attr("value"); });
    }
    if (PyLong_Check(object.ptr())) {
      return integer(object);
    }
    if (PyFloat_Check(object.ptr())) {
      return PyFloat_AsDouble(object.ptr());
    }
    if (nb::hasattr(object, "__fspath__")) {
      return stand_in([&] { return object.attr("__fspath__")(); });
    }
    if (nb::hasattr(object, "__dataclass_fields__")) {
      return stand_in([&] { return fields_of(object); });
    }
    if (is_a(object, "collections.abc", "Mapping")) {
      return stand_in([&] { return nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))(object); });
    }
    if (is_a(object, "datetime", "date") || is_a(object, "datetime", "time")) {
      return stand_in([&] { return object.attr("isoformat")(); });
    }
    if (is_a(object, "uuid", "UUID")) {
      return stand_in([&] { return nb::str(object); });
    }
    fail(PyExc_TypeError, "an object of type '" + type_of(object) + "' cannot be sent");
  }

  // The value of what an object is sent as.
  template <class Work>
  Value stand_in(Work work) {
    return make(with_place([&] { return nb::object(work()); }));
  }

  static bool is_a(nb::handle object, const char* module, const char* name) {
    return nb::isinstance(object, nb::module_::import_(module).attr(name));
  }

  static nb::object fields_of(nb::handle object) {
    nb::dict fields;
    for (const nb::handle field : nb::module_::import_("dataclasses").attr("fields")(object)) {
      const nb::object name = field.attr("name");
      fields[name] = object.attr(name);
    }
    return fields;
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
    const std::string type = nb::cast<std::string>(nb::str(dict.type().attr("__name__")));
    PyErr_SetString(PyExc_TypeError, ("inputs are a dict, not of type '" + type + "'").c_str());
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
