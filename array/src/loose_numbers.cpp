#include "loose_numbers.h"

#include <cmath>
#include <complex>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "decode_fault.h"
#include "integer_limits.h"
#include "tessera/array/fit.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/python_number.h"
#include "tessera/base/python_text.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

using Complex = std::complex<double>;

// Longer whole numbers are not shown in full.
constexpr std::size_t kMaxShownDigits = 4300;

// A leaf of the value. What it holds depends on its kind; kObject also says whether it has members.
struct Leaf {
  JsonKind kind = JsonKind::kNull;
  JsonNumber number;
  std::string text;  // of a text, decoded; of a huge integer, its digits
  bool is_empty_object = false;
};

Leaf read_leaf(JsonScanner& scanner) {
  Leaf leaf;
  leaf.kind = scanner.peek();
  if (leaf.kind == JsonKind::kText) {
    leaf.text = scanner.read_text();
  } else if (leaf.kind == JsonKind::kNumber) {
    const std::size_t begin = scanner.offset();
    leaf.number = scanner.read_number();
    if (leaf.number.kind == JsonNumber::Kind::kHugeInt) {
      leaf.text = scanner.text_since(begin).substr(0, kMaxShownDigits);
    }
  } else {
    const std::string_view value = scanner.skip_value();
    if (leaf.kind == JsonKind::kObject) {
      leaf.is_empty_object = value.find('"') == std::string_view::npos;
    }
  }
  return leaf;
}

// Calls `visit` with each leaf until it returns false.
template <class Visit>
bool for_each_leaf(JsonScanner& scanner, Visit& visit) {
  if (scanner.peek() != JsonKind::kList) {
    return visit(read_leaf(scanner));
  }
  scanner.enter();
  while (scanner.next_item()) {
    if (!for_each_leaf(scanner, visit)) {
      return false;
    }
  }
  return true;
}

template <class Visit>
bool for_each_leaf(std::string_view value, Visit visit) {
  JsonScanner scanner(value, JsonScanner::Options{value.size()});
  return for_each_leaf(scanner, visit);
}

// Whether NumPy makes this an array of Python objects, and not one of texts, numbers among them included.
bool has_objects(std::string_view value) {
  return !for_each_leaf(value, [](const Leaf& leaf) {
    return leaf.kind != JsonKind::kNull && leaf.kind != JsonKind::kObject &&
           leaf.number.kind != JsonNumber::Kind::kHugeInt;
  });
}

// NumPy's texts have no zero characters at their end.
std::string_view without_trailing_nuls(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\0') + 1);
}

// Numbers of floating point, of one part or two.
class FloatConverter {
 public:
  FloatConverter(bool is_complex, bool has_object) : is_complex_(is_complex), has_object_(has_object) {}

  // Nothing if the leaf is no number; then fault() says why.
  std::optional<Complex> convert(const Leaf& leaf) {
    constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
    switch (leaf.kind) {
      case JsonKind::kNull:
        return Complex(kNan, is_complex_ ? kNan : 0.0);
      case JsonKind::kTrue:
      case JsonKind::kFalse:
        if (!has_object_) {
          return convert_text(leaf.kind == JsonKind::kTrue ? "True" : "False");
        }
        return Complex(leaf.kind == JsonKind::kTrue ? 1.0 : 0.0);
      case JsonKind::kNumber:
        if (leaf.number.kind == JsonNumber::Kind::kHugeInt && std::isinf(leaf.number.real)) {
          reason_ = "int too large to convert to float";
          return std::nullopt;
        }
        return Complex(leaf.number.real);
      case JsonKind::kText:
        return convert_text(has_object_ ? std::string_view(leaf.text) : without_trailing_nuls(leaf.text));
      default:
        reason_ = is_complex_ ? "must be real number, not dict"
                              : "float() argument must be a string or a real number, not 'dict'";
        return std::nullopt;
    }
  }

  [[nodiscard]] const std::string& reason() const { return reason_; }

 private:
  std::optional<Complex> convert_text(std::string_view text) {
    if (is_complex_) {
      const std::optional<Complex> number = parse_python_complex(text);
      if (!number) {
        reason_ = "complex() arg is a malformed string";
      }
      return number;
    }
    const std::optional<double> number = parse_python_float(text);
    if (!number) {
      constexpr std::size_t kMaxShown = 100;
      reason_ = "could not convert string to float: " + python_repr(cut_utf8(text, kMaxShown));
      return std::nullopt;
    }
    return Complex(*number);
  }

  bool is_complex_;
  bool has_object_;
  std::string reason_;
};

// Writes T elements for all leaves; false as soon as `convert` gives nothing.
template <class T, class Convert>
bool fill(std::string_view value, Array& array, Convert convert) {
  T* out = array.mutable_values<T>().data();
  return for_each_leaf(value, [&out, &convert](const Leaf& leaf) {
    const auto element = convert(leaf);
    if (element) {
      *out = *element;
      ++out;
    }
    return element.has_value();
  });
}

std::variant<Array, ArrayFault> to_floats(std::string_view value, DType dtype, const Shape& shape, bool has_object) {
  const bool is_complex = kind_of(dtype) == DTypeKind::kComplex;
  FloatConverter converter(is_complex, has_object);
  Array wide = Array::allocate(is_complex ? DType::kComplex128 : DType::kFloat64, shape);
  const bool is_filled =
      is_complex ? fill<Complex>(value, wide, [&converter](const Leaf& leaf) { return converter.convert(leaf); })
                 : fill<double>(value, wide, [&converter](const Leaf& leaf) -> std::optional<double> {
                     const std::optional<Complex> number = converter.convert(leaf);
                     return number ? std::optional(number->real()) : std::nullopt;
                   });
  if (!is_filled) {
    return decode_fault("json", converter.reason());
  }
  std::variant<Array, ArrayFault> narrow = cast(std::move(wide), dtype);
  if (const auto* const fault = std::get_if<ArrayFault>(&narrow)) {
    return decode_fault(
        "json", "a number does not fit into dtype '" + std::string(name_of(dtype)) + "' (" + fault->value + ")");
  }
  return narrow;
}

bool is_true(const Leaf& leaf, bool has_object) {
  switch (leaf.kind) {
    case JsonKind::kText:
      return !(has_object ? std::string_view(leaf.text) : without_trailing_nuls(leaf.text)).empty();
    case JsonKind::kNumber:
      // As texts, all numbers are true: none is empty.
      return !has_object || leaf.number.real != 0.0;
    case JsonKind::kTrue:
      return true;
    case JsonKind::kFalse:
      return !has_object;
    case JsonKind::kObject:
      return !leaf.is_empty_object;
    default:
      return false;
  }
}

std::string python_text(const Leaf& number) {
  switch (number.number.kind) {
    case JsonNumber::Kind::kInt:
      return std::to_string(number.number.integer);
    case JsonNumber::Kind::kUInt:
      return std::to_string(number.number.unsigned_integer);
    case JsonNumber::Kind::kHugeInt:
      return number.text;
    case JsonNumber::Kind::kDouble:
      break;
  }
  return python_repr(number.number.real);
}

// Integers cannot come from texts, nulls and objects; what remains has an integer beyond 64 bits in it, so the question
// is only which value to show: the lowest if it is too low, else the highest.
ArrayFault integer_fault(std::string_view value, DType dtype) {
  Leaf low;
  Leaf high;
  bool is_first = true;
  const bool has_numbers_only = for_each_leaf(value, [&](const Leaf& leaf) {
    if (leaf.kind != JsonKind::kNumber) {
      // Booleans are never what is shown: another leaf is beyond 64 bits.
      return leaf.kind == JsonKind::kTrue || leaf.kind == JsonKind::kFalse;
    }
    if (is_first || leaf.number.real < low.number.real) {
      low = leaf;
    }
    if (is_first || leaf.number.real > high.number.real) {
      high = leaf;
    }
    is_first = false;
    return true;
  });
  if (!has_numbers_only) {
    return decode_fault("json", "integers expected, not texts, nulls or objects");
  }
  const auto lowest = static_cast<double>(lowest_integer(dtype));
  // The one next below the lowest of 64 bits has the same double.
  const bool is_too_low = low.number.real < lowest || (low.number.real < 0.0 && !low.text.empty());
  ArrayFault fault;
  fault.kind = ArrayFault::Kind::kOutOfRange;
  fault.expected_dtype = dtype;
  fault.value = python_text(is_too_low ? low : high);
  return fault;
}

}  // namespace

std::variant<Array, ArrayFault> read_loose_numbers(std::string_view value, DType dtype, const Shape& shape) {
  const bool has_object = has_objects(value);
  switch (kind_of(dtype)) {
    case DTypeKind::kSigned:
    case DTypeKind::kUnsigned:
      return integer_fault(value, dtype);
    case DTypeKind::kBool: {
      Array flags = Array::allocate(dtype, shape);
      fill<bool>(value, flags, [has_object](const Leaf& leaf) { return std::optional(is_true(leaf, has_object)); });
      return flags;
    }
    case DTypeKind::kFloat:
    case DTypeKind::kComplex:
      break;
  }
  return to_floats(value, dtype, shape, has_object);
}

}  // namespace tessera
