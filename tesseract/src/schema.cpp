#include "tessera/tesseract/schema.h"

#include <stdexcept>
#include <utility>

#include "conform.h"
#include "identifier.h"

namespace tessera {
namespace {

/// Adds the differentiable arrays of a type that stands at `path`.
void collect(const Type& type, const std::string& path, std::vector<DifferentiableArray>& found) {
  switch (type.kind()) {
    case Type::Kind::kArray:
      if (type.is_differentiable()) {
        found.push_back({path, type.array_spec()});
      }
      break;
    case Type::Kind::kList:
      collect(type.element(), path + ".[]", found);
      break;
    case Type::Kind::kDict:
      collect(type.element(), path + ".{}", found);
      break;
    case Type::Kind::kObject:
      for (const DifferentiableArray& inner : type.schema().differentiable_arrays()) {
        found.push_back({path + "." + inner.path_template, inner.spec});
      }
      break;
    default:
      break;
  }
}

Object completed(Object object, const Schema& schema);

void complete(Value& value, const Type& type) {
  switch (type.kind()) {
    case Type::Kind::kList:
      if (value.kind() == Value::Kind::kList) {
        for (Value& item : value.list()) {
          complete(item, type.element());
        }
      }
      break;
    case Type::Kind::kDict:
      if (value.kind() == Value::Kind::kObject) {
        for (const Object::Member& member : value.object().members()) {
          complete(*value.object().find(member.key), type.element());
        }
      }
      break;
    case Type::Kind::kObject:
      if (value.kind() == Value::Kind::kObject) {
        value = Value(completed(std::move(value.object()), type.schema()));
      }
      break;
    default:
      break;
  }
}

Object completed(Object object, const Schema& schema) {
  Object all;
  for (const Field& field : schema.fields()) {
    Value* value = object.find(field.name);
    if (value == nullptr) {
      if (field.default_value) {
        all.set_default(field.name, *field.default_value);
      }
      continue;
    }
    complete(*value, field.type);
    if (object.is_given(field.name)) {
      all.set(field.name, std::move(*value));
    } else {
      all.set_default(field.name, std::move(*value));
    }
  }
  for (const Object::Member& member : object.members()) {
    if (!schema.find_field(member.key)) {
      all.set(member.key, member.value);
    }
  }
  return all;
}

}  // namespace

Schema& Schema::add(Field field) {
  if (!is_identifier(field.name)) {
    throw std::invalid_argument("schema '" + name_ + "': '" + field.name + "' cannot name a field");
  }
  if (find_field(field.name)) {
    throw std::invalid_argument("schema '" + name_ + "' has a field '" + field.name + "' already");
  }
  if (field.default_value) {
    if (const auto misfit = conform(*field.default_value, field.type, ArrayForm::kValues)) {
      throw std::invalid_argument("schema '" + name_ + "': the default of field '" + field.name +
                                  "' does not fit: " + misfit->text());
    }
    complete(*field.default_value, field.type);
  }
  collect(field.type, field.name, differentiable_arrays_);
  fields_.push_back(std::move(field));
  return *this;
}

Schema& Schema::field(std::string name, Type type, std::string description) {
  return add({std::move(name), std::move(type), std::move(description), std::nullopt, true});
}

Schema& Schema::field(std::string name, Type type, std::string description, Value default_value) {
  return add({std::move(name), std::move(type), std::move(description), std::move(default_value), true});
}

Schema& Schema::field_with_hidden_default(std::string name, Type type, std::string description, Value default_value) {
  return add({std::move(name), std::move(type), std::move(description), std::move(default_value), false});
}

Schema& Schema::allow_extra_keys() {
  allows_extra_keys_ = true;
  return *this;
}

Schema& Schema::rule(Rule rule) {
  rules_.push_back(std::move(rule));
  return *this;
}

Schema& Schema::describe(std::string description) {
  description_ = std::move(description);
  return *this;
}

std::optional<std::size_t> Schema::find_field(std::string_view name) const {
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (fields_[i].name == name) {
      return i;
    }
  }
  return std::nullopt;
}

Object with_defaults(Object object, const Schema& schema) {
  return completed(std::move(object), schema);
}

}  // namespace tessera
