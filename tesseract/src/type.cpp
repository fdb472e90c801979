#include "tessera/tesseract/type.h"

#include <stdexcept>
#include <utility>

#include "pattern.h"
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

}  // namespace

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
  Type type = *this;
  type.bounds_.ge = bound;
  return type;
}

Type Type::above(double bound) const {
  require(kind_ == Kind::kInteger || kind_ == Kind::kNumber, "above()");
  Type type = *this;
  type.bounds_.gt = bound;
  return type;
}

Type Type::at_most(double bound) const {
  require(kind_ == Kind::kInteger || kind_ == Kind::kNumber, "at_most()");
  Type type = *this;
  type.bounds_.le = bound;
  return type;
}

Type Type::below(double bound) const {
  require(kind_ == Kind::kInteger || kind_ == Kind::kNumber, "below()");
  Type type = *this;
  type.bounds_.lt = bound;
  return type;
}

Type Type::min_length(std::size_t length) const {
  require(kind_ == Kind::kText || kind_ == Kind::kList || kind_ == Kind::kDict, "min_length()");
  Type type = *this;
  type.min_length_ = length;
  return type;
}

Type Type::max_length(std::size_t length) const {
  require(kind_ == Kind::kText || kind_ == Kind::kList || kind_ == Kind::kDict, "max_length()");
  Type type = *this;
  type.max_length_ = length;
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
