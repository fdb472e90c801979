#include "tessera/sdk/array_input.h"

#include <initializer_list>
#include <string_view>

namespace tessera {
namespace {

const Value* find_at(const Value& root, std::initializer_list<std::string_view> path) {
  const Value* value = &root;
  for (const std::string_view key : path) {
    value = value->kind() == Value::Kind::kObject ? value->object().find(key) : nullptr;
    if (value == nullptr) {
      return nullptr;
    }
  }
  return value;
}

bool is_text(const Value* value) {
  return value != nullptr && value->kind() == Value::Kind::kText;
}

bool is_filled_list(const Value* value) {
  return value != nullptr && value->kind() == Value::Kind::kList && !value->list().empty();
}

std::optional<ArrayInput> array_input(const std::string& name, const Value& schema) {
  const Value* const type = find_at(schema, {"properties", "object_type", "const"});
  const Value* const examples = find_at(schema, {"properties", "dtype", "examples"});
  const Value* const shape = find_at(schema, {"properties", "shape"});
  if (!is_text(type) || type->text() != "array" || !is_filled_list(examples) || !is_text(examples->list().data()) ||
      shape == nullptr) {
    return std::nullopt;
  }
  ArrayInput input;
  input.name = name;
  input.dtype = find_dtype(examples->list().front().text()).value_or(DType::kFloat64);
  if (const Value* const axes = find_at(*shape, {"prefixItems"}); is_filled_list(axes)) {
    for (const Value& axis : axes->list()) {
      if (find_at(axis, {"enum"}) != nullptr || find_at(axis, {"const"}) != nullptr) {
        return std::nullopt;
      }
    }
    input.rank = axes->list().size();
  } else if (find_at(*shape, {"maxItems"}) != nullptr) {
    return std::nullopt;
  }
  return input;
}

}  // namespace

Shape ArrayInput::shape_of(std::int64_t elements) const {
  Shape shape(rank, 1);
  shape.front() = elements;
  return shape;
}

std::optional<ArrayInput> find_array_input(const Value& input_schema) {
  const Value* const extra = find_at(input_schema, {"additionalProperties"});
  const Value* const properties = find_at(input_schema, {"properties"});
  if (properties == nullptr || properties->kind() != Value::Kind::kObject || extra == nullptr ||
      extra->kind() != Value::Kind::kBool || extra->boolean()) {
    return std::nullopt;
  }
  for (const Object::Member& property : properties->object().members()) {
    if (std::optional<ArrayInput> input = array_input(property.key, property.value)) {
      return input;
    }
    // An array that may be null is one of two.
    if (const Value* const either = find_at(property.value, {"anyOf"}); is_filled_list(either)) {
      if (std::optional<ArrayInput> input = array_input(property.key, either->list().front())) {
        return input;
      }
    }
  }
  return std::nullopt;
}

}  // namespace tessera
