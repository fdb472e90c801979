#include "tessera/tesseract/type.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "pattern.h"
#include "tessera/base/python_text.h"
#include "tessera/tesseract/schema.h"

namespace tessera {
namespace {

void require_declarable(const Shape& shape) {
  for (const std::int64_t size : shape) {
    if (size < 0 && size != kFreeAxis) {
      throw std::invalid_argument("a declared size is negative: " + std::to_string(size));
    }
  }
}

void require_number(double bound) {
  if (std::isnan(bound)) {
    throw std::invalid_argument("a bound is not a number (NaN)");
  }
}

/// As the author wrote them: "at least 5 and below 3".
std::string in_words(const Bounds& bounds) {
  std::string words;
  const auto add = [&words](const char* name, const std::optional<double>& bound) {
    if (bound) {
      words += (words.empty() ? "" : " and ") + std::string(name) + " " + python_repr(*bound);
    }
  };
  add("at least", bounds.ge);
  add("above", bounds.gt);
  add("at most", bounds.le);
  add("below", bounds.lt);
  return words;
}

/// Whether some number, or some whole number, is within the bounds.
bool allow_any(const Bounds& bounds, bool whole) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double low = bounds.ge.value_or(-kInfinity);
  double high = bounds.le.value_or(kInfinity);
  if (whole) {
    low = std::max(std::ceil(low), bounds.gt ? std::floor(*bounds.gt) + 1 : -kInfinity);
    high = std::min(std::floor(high), bounds.lt ? std::ceil(*bounds.lt) - 1 : kInfinity);
    // Beyond 2^53 a step of one may be none.
    return low <= high && (!bounds.gt || low > *bounds.gt || std::abs(low) > 0x1p53) &&
           (!bounds.lt || high < *bounds.lt || std::abs(high) > 0x1p53);
  }
  low = std::max(low, bounds.gt.value_or(-kInfinity));
  high = std::min(high, bounds.lt.value_or(kInfinity));
  return low < high || (low == high && low != bounds.gt && high != bounds.lt);
}

std::string to_text(const Value& choice) {
  return choice.kind() == Value::Kind::kText ? "'" + choice.text() + "'" : std::to_string(choice.integer());
}

/// pydantic's Literal and Python's Enum take each once.
void require_distinct(const std::vector<Value>& choices) {
  for (auto choice = choices.begin(); choice != choices.end(); ++choice) {
    const std::string text = to_text(*choice);
    if (std::any_of(choices.begin(), choice, [&](const Value& before) { return to_text(before) == text; })) {
      throw std::invalid_argument("a choice has " + text + " twice");
    }
  }
}

}  // namespace

void Type::require_satisfiable() const {
  if (!allow_any(bounds_, kind_ == Kind::kInteger)) {
    throw std::invalid_argument("no " + std::string(kind_ == Kind::kInteger ? "integer" : "number") + " is " +
                                in_words(bounds_));
  }
  if (min_length_ && max_length_ && *min_length_ > *max_length_) {
    throw std::invalid_argument("no length is at least " + std::to_string(*min_length_) + " and at most " +
                                std::to_string(*max_length_));
  }
}

void Type::require(bool is_right_kind, const char* what) const {
  if (!is_right_kind) {
    throw std::invalid_argument(std::string(what) + " does not go with this kind of type");
  }
}

Type Type::differentiable() const {
  require(kind_ == Kind::kArray, "differentiable()");
  Type type = *this;
  type.is_differentiable_ = true;
  return type;
}

Type Type::optional() const {
  Type type = *this;
  type.is_optional_ = true;
  return type;
}

Type Type::at_least(double bound) const {
  require(kind_ == Kind::kInteger || kind_ == Kind::kNumber, "at_least()");
  require_number(bound);
  Type type = *this;
  type.bounds_.ge = bound;
  type.require_satisfiable();
  return type;
}

Type Type::above(double bound) const {
  require(kind_ == Kind::kInteger || kind_ == Kind::kNumber, "above()");
  require_number(bound);
  Type type = *this;
  type.bounds_.gt = bound;
  type.require_satisfiable();
  return type;
}

Type Type::at_most(double bound) const {
  require(kind_ == Kind::kInteger || kind_ == Kind::kNumber, "at_most()");
  require_number(bound);
  Type type = *this;
  type.bounds_.le = bound;
  type.require_satisfiable();
  return type;
}

Type Type::below(double bound) const {
  require(kind_ == Kind::kInteger || kind_ == Kind::kNumber, "below()");
  require_number(bound);
  Type type = *this;
  type.bounds_.lt = bound;
  type.require_satisfiable();
  return type;
}

Type Type::min_length(std::size_t length) const {
  require(kind_ == Kind::kText || kind_ == Kind::kList || kind_ == Kind::kDict, "min_length()");
  Type type = *this;
  type.min_length_ = length;
  type.require_satisfiable();
  return type;
}

Type Type::max_length(std::size_t length) const {
  require(kind_ == Kind::kText || kind_ == Kind::kList || kind_ == Kind::kDict, "max_length()");
  Type type = *this;
  type.max_length_ = length;
  type.require_satisfiable();
  return type;
}

Type Type::pattern(std::string expression) const {
  require(kind_ == Kind::kText, "pattern()");
  auto compiled = Pattern::compile(expression);
  if (!compiled) {
    throw std::invalid_argument(compiled.error().message());
  }
  Type type = *this;
  type.compiled_pattern_ = std::move(compiled).value();
  type.pattern_ = std::move(expression);
  return type;
}

bool Type::matches_pattern(std::string_view text) const {
  return compiled_pattern_ == nullptr || compiled_pattern_->is_found_in(text);
}

Type array(DType dtype, Shape shape) {
  Type type = array_of_any_dtype(std::move(shape));
  type.array_.dtype = dtype;
  return type;
}

Type array(DType dtype) {
  Type type(Type::Kind::kArray);
  type.array_.dtype = dtype;
  return type;
}

Type array_of_any_dtype(Shape shape) {
  require_declarable(shape);
  Type type(Type::Kind::kArray);
  type.array_.shape = std::move(shape);
  return type;
}

Type array_of_any_dtype() {
  return Type(Type::Kind::kArray);
}

Type integer() {
  return Type(Type::Kind::kInteger);
}

Type number() {
  return Type(Type::Kind::kNumber);
}

Type boolean() {
  return Type(Type::Kind::kBoolean);
}

Type text() {
  return Type(Type::Kind::kText);
}

Type choice(std::vector<Value> values) {
  for (const Value& value : values) {
    if (value.kind() != Value::Kind::kText && value.kind() != Value::Kind::kInt) {
      throw std::invalid_argument("a choice is between texts and integers");
    }
  }
  if (values.empty()) {
    throw std::invalid_argument("a choice needs something to choose from");
  }
  Type type(Type::Kind::kChoice);
  require_distinct(values);
  type.choices_ = std::move(values);
  return type;
}

Type enumeration(std::string name, std::vector<std::string> values) {
  if (values.empty()) {
    throw std::invalid_argument("enumeration '" + name + "' has no values");
  }
  Type type(Type::Kind::kEnumeration);
  type.name_ = std::move(name);
  for (std::string& value : values) {
    type.choices_.emplace_back(std::move(value));
  }
  require_distinct(type.choices_);
  return type;
}

Type list_of(Type element) {
  Type type(Type::Kind::kList);
  type.element_ = std::make_shared<const Type>(std::move(element));
  return type;
}

Type dict_of(Type element) {
  Type type(Type::Kind::kDict);
  type.element_ = std::make_shared<const Type>(std::move(element));
  return type;
}

Type object(Schema schema) {
  Type type(Type::Kind::kObject);
  type.schema_ = std::make_shared<const Schema>(std::move(schema));
  return type;
}

Type anything() {
  return Type(Type::Kind::kAny);
}

}  // namespace tessera
