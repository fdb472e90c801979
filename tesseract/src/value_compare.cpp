#include "value_compare.h"

#include <cmath>
#include <complex>
#include <type_traits>

#include "tessera/base/python_text.h"

namespace tessera {
namespace {

constexpr std::size_t kMaxShownElements = 100;

std::string_view python_type_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "NoneType";
    case Value::Kind::kBool:
      return "bool";
    case Value::Kind::kInt:
    case Value::Kind::kUInt:
      return "int";
    case Value::Kind::kDouble:
      return "float";
    case Value::Kind::kText:
      return "str";
    case Value::Kind::kList:
      return "list";
    case Value::Kind::kObject:
      return "dict";
    case Value::Kind::kArray:
      break;
  }
  return "ndarray";
}

bool is_close(double obtained, double expected, const Tolerance& tolerance) {
  if (obtained == expected) {
    return true;
  }
  return std::isfinite(expected) &&
         std::abs(obtained - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}

bool is_close(std::complex<double> obtained, std::complex<double> expected, const Tolerance& tolerance) {
  if (obtained == expected) {
    return true;
  }
  return std::isfinite(expected.real()) && std::isfinite(expected.imag()) &&
         std::abs(obtained - expected) <= tolerance.atol + tolerance.rtol * std::abs(expected);
}

bool is_nan(double number) {
  return std::isnan(number);
}

bool is_nan(std::complex<double> number) {
  return std::isnan(number.real()) || std::isnan(number.imag());
}

template <class T>
auto widened(T element) {
  if constexpr (std::is_same_v<T, Half>) {
    return static_cast<double>(element.to_float());
  } else if constexpr (std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>) {
    return std::complex<double>(element);
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(element);
  } else {
    return element;
  }
}

template <class T>
bool is_same(T obtained, T expected, bool is_alone, const Tolerance& tolerance) {
  const auto wide_obtained = widened(obtained);
  const auto wide_expected = widened(expected);
  if constexpr (std::is_integral_v<T>) {
    return wide_obtained == wide_expected;
  } else {
    // Upstream, NaN equals NaN in an array but not in a number.
    const bool is_nan_in_both = is_nan(wide_obtained) && is_nan(wide_expected);
    return (is_nan_in_both && !is_alone) || is_close(wide_obtained, wide_expected, tolerance);
  }
}

template <class T>
std::string element_text(T element) {
  const auto wide = widened(element);
  if constexpr (std::is_same_v<T, bool>) {
    return wide ? "True" : "False";
  } else if constexpr (std::is_integral_v<T>) {
    return std::to_string(wide);
  } else if constexpr (std::is_same_v<std::decay_t<decltype(wide)>, double>) {
    return python_repr(wide);
  } else {
    return python_repr_complex(wide.real(), wide.imag());
  }
}

std::string scalar_text(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return "None";
    case Value::Kind::kBool:
      return value.boolean() ? "True" : "False";
    case Value::Kind::kInt:
      return std::to_string(value.integer());
    case Value::Kind::kUInt:
      return std::to_string(value.unsigned_integer());
    case Value::Kind::kDouble:
      return python_repr(value.number());
    case Value::Kind::kText:
      return value.text();
    default:
      return std::string(python_type_of(value));
  }
}

/// The position of an element as a tuple of indices.
std::string index_text(std::size_t position, const Shape& shape) {
  Shape index(shape.size());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    index[axis] = static_cast<std::int64_t>(position) % shape[axis];
    position /= static_cast<std::size_t>(shape[axis]);
  }
  return python_tuple(index);
}

class Comparison {
 public:
  explicit Comparison(const Tolerance& tolerance) : tolerance_(tolerance) {}

  void compare(const Value& obtained, const Value& expected, const Type* type, const std::string& path) {
    if (python_type_of(obtained) != python_type_of(expected)) {
      found_.structure.push_back("Type mismatch at " + path +
                                 ":\n  Expected: " + std::string(python_type_of(expected)) +
                                 ",   Obtained: " + std::string(python_type_of(obtained)));
      return;
    }
    switch (expected.kind()) {
      case Value::Kind::kObject: {
        const bool is_model = type != nullptr && type->kind() == Type::Kind::kObject;
        const bool is_dict = type != nullptr && type->kind() == Type::Kind::kDict;
        compare(obtained.object(), expected.object(), is_model ? &type->schema() : nullptr,
                is_dict ? &type->element() : nullptr, path);
        break;
      }
      case Value::Kind::kList:
        compare_lists(obtained.list(), expected.list(), type, path);
        break;
      case Value::Kind::kArray:
        compare_arrays(obtained.array(), expected.array(), path);
        break;
      default:
        compare_scalars(obtained, expected, path);
        break;
    }
  }

  void compare(const Object& obtained, const Object& expected, const Schema* schema, const Type* element,
               const std::string& path) {
    std::string missing;
    std::string unexpected;
    for (const Object::Member& member : expected.members()) {
      const Value* other = obtained.find(member.key);
      if (other == nullptr) {
        missing.append(missing.empty() ? "" : ", ").append(member.key);
        continue;
      }
      const auto field = schema != nullptr ? schema->find_field(member.key) : std::nullopt;
      const Type* type = field ? &schema->fields()[*field].type : element;
      std::string inner = path.empty() ? "" : path + ".";
      inner += schema != nullptr ? member.key : "{" + member.key + "}";
      compare(*other, member.value, type, inner);
    }
    for (const Object::Member& member : obtained.members()) {
      if (expected.find(member.key) == nullptr) {
        unexpected.append(unexpected.empty() ? "" : ", ").append(member.key);
      }
    }
    if (!missing.empty() || !unexpected.empty()) {
      found_.structure.push_back("Key mismatch at " + path + ":\n  Missing keys: " + missing +
                                 "\n  Unexpected keys: " + unexpected);
    }
  }

  [[nodiscard]] Differences take() { return std::move(found_); }

 private:
  void compare_lists(const List& obtained, const List& expected, const Type* type, const std::string& path) {
    if (obtained.size() != expected.size()) {
      found_.structure.push_back("Mismatch in length of list at " + path + ":\n  Expected: " +
                                 std::to_string(expected.size()) + "\n  Obtained: " + std::to_string(obtained.size()));
      return;
    }
    const Type* element = type != nullptr && type->kind() == Type::Kind::kList ? &type->element() : nullptr;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      compare(obtained[i], expected[i], element, path + ".[" + std::to_string(i) + "]");
    }
  }

  void compare_arrays(const Array& obtained, const Array& expected, const std::string& path) {
    if (obtained.shape() != expected.shape()) {
      found_.structure.push_back("Shape mismatch for array at " + path + ": \n  Expected: " +
                                 python_tuple(expected.shape()) + "\n  Obtained: " + python_tuple(obtained.shape()));
      return;
    }
    if (obtained.dtype() != expected.dtype()) {
      found_.structure.push_back("dtype mismatch for array at " + path +
                                 ":\n  Expected: " + std::string(name_of(expected.dtype())) +
                                 "\n  Obtained: " + std::string(name_of(obtained.dtype())));
      return;
    }
    if (!obtained.has_data() || !expected.has_data()) {
      return;
    }
    const Result<Array> left = obtained.to_host();
    const Result<Array> right = expected.to_host();
    if (!left || !right) {
      found_.structure.push_back("Array at " + path +
                                 " cannot be compared: " + (left ? right : left).error().message());
      return;
    }
    visit_dtype(expected.dtype(), [&](auto zero) { compare_elements<decltype(zero)>(*left, *right, path); });
  }

  template <class T>
  void compare_elements(const Array& obtained, const Array& expected, const std::string& path) {
    const auto left = obtained.values<T>();
    const auto right = expected.values<T>();
    const bool is_alone = expected.rank() == 0;
    std::size_t count = 0;
    std::string lines;
    for (std::size_t i = 0; i < right.size(); ++i) {
      if (is_same(left[i], right[i], is_alone, tolerance_)) {
        continue;
      }
      if (++count <= kMaxShownElements) {
        lines += "  at " + index_text(i, expected.shape()) + ": expected " + element_text(right[i]) + ", obtained " +
                 element_text(left[i]) + "\n";
      }
    }
    if (count > 0) {
      const std::string shown = count > kMaxShownElements ? ", of which the first are" : "";
      found_.values.push_back(path + "\nShape: " + python_tuple(expected.shape()) + "\n  Number of differences: " +
                              std::to_string(count) + " / " + std::to_string(right.size()) + shown + "\n" + lines);
    }
  }

  void compare_scalars(const Value& obtained, const Value& expected, const std::string& path) {
    bool is_right = false;
    switch (expected.kind()) {
      case Value::Kind::kDouble:
        is_right = is_close(obtained.number(), expected.number(), tolerance_);
        break;
      case Value::Kind::kInt:
        is_right = obtained.kind() == Value::Kind::kInt && obtained.integer() == expected.integer();
        break;
      case Value::Kind::kUInt:
        is_right = obtained.kind() == Value::Kind::kUInt && obtained.unsigned_integer() == expected.unsigned_integer();
        break;
      case Value::Kind::kBool:
        is_right = obtained.boolean() == expected.boolean();
        break;
      case Value::Kind::kText:
        is_right = obtained.text() == expected.text();
        break;
      default:
        is_right = true;
        break;
    }
    if (!is_right) {
      found_.values.push_back(path + ":\n  Expected: " + scalar_text(expected) +
                              "\n  Obtained: " + scalar_text(obtained));
    }
  }

  Tolerance tolerance_;
  Differences found_;
};

}  // namespace

Differences compare(const Object& obtained, const Object& expected, const Schema* schema, const Tolerance& tolerance) {
  Comparison comparison(tolerance);
  comparison.compare(obtained, expected, schema, nullptr, {});
  return comparison.take();
}

}  // namespace tessera
