#include "openapi_components.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/array/body.h"
#include "tessera/array/value_writer.h"

namespace tessera {
namespace {

/// A field's name as a heading, in the way of Python's str.title(): "any_dtype" is "Any Dtype", "f16x" is "F16X".
std::string title_of(std::string_view name) {
  std::string title;
  bool is_in_word = false;
  for (const char character : name) {
    const bool is_lower = character >= 'a' && character <= 'z';
    const bool is_upper = character >= 'A' && character <= 'Z';
    if (is_lower && !is_in_word) {
      title += static_cast<char>(character - 'a' + 'A');
    } else if (is_upper && is_in_word) {
      title += static_cast<char>(character - 'A' + 'a');
    } else {
      title += character == '_' ? ' ' : character;
    }
    is_in_word = is_lower || is_upper;
  }
  const std::size_t first = title.find_first_not_of(' ');
  return first == std::string::npos ? "" : title.substr(first, title.find_last_not_of(' ') - first + 1);
}

/// Fields that are shown by reference, and arrays that bring their own title, have none of the field's.
bool has_field_title(const Type& type, ArrayForm form) {
  switch (type.kind()) {
    case Type::Kind::kObject:
    case Type::Kind::kEnumeration:
      return false;
    case Type::Kind::kArray:
      return form == ArrayForm::kValues && type.is_optional();
    default:
      return true;
  }
}

OpenApiJson number_schema(const char* name, const Bounds& bounds) {
  OpenApiJson schema = {{"type", name}};
  const auto add = [&schema](const char* key, const std::optional<double>& bound) {
    if (bound) {
      schema[key] = *bound;
    }
  };
  add("maximum", bounds.le);
  add("exclusiveMaximum", bounds.lt);
  add("minimum", bounds.ge);
  add("exclusiveMinimum", bounds.gt);
  return schema;
}

void add_lengths(OpenApiJson& schema, const Type& type, const char* max_key, const char* min_key) {
  if (const std::optional<std::size_t> length = type.max_length()) {
    schema[max_key] = *length;
  }
  if (const std::optional<std::size_t> length = type.min_length()) {
    schema[min_key] = *length;
  }
}

OpenApiJson text_schema(const Type& type) {
  OpenApiJson schema = {{"type", "string"}};
  add_lengths(schema, type, "maxLength", "minLength");
  if (const std::optional<std::string>& pattern = type.pattern()) {
    schema["pattern"] = *pattern;
  }
  return schema;
}

OpenApiJson choice_schema(const Type& type) {
  const std::vector<Value>& choices = type.choices();
  const auto is_text = [](const Value& choice) { return choice.kind() == Value::Kind::kText; };
  OpenApiJson schema = OpenApiJson::object();
  if (std::ranges::all_of(choices, is_text)) {
    schema["type"] = "string";
  } else if (std::ranges::none_of(choices, is_text)) {
    schema["type"] = "integer";
  }
  OpenApiJson values = OpenApiJson::array();
  for (const Value& choice : choices) {
    values.push_back(default_to_json(choice));
  }
  if (values.size() == 1) {
    schema["const"] = values.front();
  } else {
    schema["enum"] = std::move(values);
  }
  return schema;
}

OpenApiJson array_to_json(const Array& array) {
  if (!array.has_data()) {
    return {{"shape", array.shape()}, {"dtype", name_of(array.dtype())}};
  }
  Body body;
  if (!write_value(Value(array), Encoding{}, {}, body)) {
    return nullptr;
  }
  return OpenApiJson::parse(body.to_string())["data"]["buffer"];
}

OpenApiJson default_of(const Type& type, const Value& value, ArrayForm form) {
  // Upstream replaces the defaults of array fields, but not those of optional ones.
  if (form == ArrayForm::kShapes && value.is_array() && !type.is_optional()) {
    return {{"shape", value.array().shape()}, {"dtype", name_of(value.array().dtype())}};
  }
  return default_to_json(value);
}

}  // namespace

OpenApiJson default_to_json(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return nullptr;
    case Value::Kind::kBool:
      return value.boolean();
    case Value::Kind::kInt:
      return value.integer();
    case Value::Kind::kUInt:
      return value.unsigned_integer();
    case Value::Kind::kDouble:
      return value.number();
    case Value::Kind::kText:
      return value.text();
    case Value::Kind::kList: {
      OpenApiJson list = OpenApiJson::array();
      for (const Value& item : value.list()) {
        list.push_back(default_to_json(item));
      }
      return list;
    }
    case Value::Kind::kObject: {
      OpenApiJson object = OpenApiJson::object();
      for (const Object::Member& member : value.object().members()) {
        if (!member.value.is_null()) {
          object[member.key] = default_to_json(member.value);
        }
      }
      return object;
    }
    case Value::Kind::kArray:
      break;
  }
  return array_to_json(value.array());
}

OpenApiJson OpenApiComponents::reference_to(const std::string& name) {
  return {{"$ref", "#/components/schemas/" + name}};
}

void OpenApiComponents::add(const std::string& name, OpenApiJson schema) {
  schemas_.insert_or_assign(name, std::move(schema));
}

std::string OpenApiComponents::add_model(const std::string& prefix, const Schema& schema, ArrayForm form) {
  const std::string plain_name = prefix + "_" + schema.name();
  OpenApiJson model = {{"properties", OpenApiJson::object()}};
  OpenApiJson required = OpenApiJson::array();
  for (const Field& field : schema.fields()) {
    model["properties"][field.name] = field_schema(prefix, field, form);
    if (field.is_required()) {
      required.push_back(field.name);
    }
  }
  model["additionalProperties"] = schema.allows_extra_keys();
  model["type"] = "object";
  if (!required.empty()) {
    model["required"] = std::move(required);
  }
  // Two models of one name are told apart by a number, unless they are the same.
  std::string name = plain_name;
  for (int number = 2;; ++number) {
    model["title"] = name;
    const auto known = schemas_.find(name);
    if (known == schemas_.end() || known->second == model) {
      break;
    }
    name = plain_name + "_" + std::to_string(number);
  }
  add(name, std::move(model));
  return name;
}

OpenApiJson OpenApiComponents::field_schema(const std::string& prefix, const Field& field, ArrayForm form) {
  OpenApiJson schema = type_schema(prefix, field.type, form);
  if (has_field_title(field.type, form)) {
    schema["title"] = title_of(field.name);
  }
  if (!field.description.empty()) {
    schema["description"] = field.description;
  }
  if (field.default_value && field.is_default_shown && !field.default_value->is_null()) {
    schema["default"] = default_of(field.type, *field.default_value, form);
  }
  return schema;
}

OpenApiJson OpenApiComponents::type_schema(const std::string& prefix, const Type& type, ArrayForm form) {
  OpenApiJson schema = bare_type_schema(prefix, type, form);
  if (!type.is_optional()) {
    return schema;
  }
  return {{"anyOf", OpenApiJson::array({std::move(schema), {{"type", "null"}}})}};
}

OpenApiJson OpenApiComponents::bare_type_schema(const std::string& prefix, const Type& type, ArrayForm form) {
  switch (type.kind()) {
    case Type::Kind::kArray:
      if (form == ArrayForm::kShapes) {
        add_shape_dtype(*this);
        return reference_to("ShapeDType");
      }
      return array_schema(type);
    case Type::Kind::kInteger:
      return number_schema("integer", type.bounds());
    case Type::Kind::kNumber:
      return number_schema("number", type.bounds());
    case Type::Kind::kBoolean:
      return {{"type", "boolean"}};
    case Type::Kind::kText:
      return text_schema(type);
    case Type::Kind::kChoice:
      return choice_schema(type);
    case Type::Kind::kEnumeration:
      return enumeration_schema(type);
    case Type::Kind::kList: {
      OpenApiJson schema = {{"items", type_schema(prefix, type.element(), form)}, {"type", "array"}};
      add_lengths(schema, type, "maxItems", "minItems");
      return schema;
    }
    case Type::Kind::kDict:
      return dict_schema(prefix, type, form);
    case Type::Kind::kObject:
      return reference_to(add_model(prefix, type.schema(), form));
    case Type::Kind::kAny:
      break;
  }
  return OpenApiJson::object();
}

OpenApiJson OpenApiComponents::dict_schema(const std::string& prefix, const Type& type, ArrayForm form) {
  OpenApiJson values = type_schema(prefix, type.element(), form);
  values.erase("title");
  if (values.empty()) {
    values = true;
  }
  OpenApiJson schema = {{"additionalProperties", std::move(values)}, {"type", "object"}};
  add_lengths(schema, type, "maxProperties", "minProperties");
  return schema;
}

OpenApiJson OpenApiComponents::enumeration_schema(const Type& type) {
  OpenApiJson values = OpenApiJson::array();
  for (const Value& choice : type.choices()) {
    values.push_back(default_to_json(choice));
  }
  add(type.name(), {{"type", "string"}, {"enum", std::move(values)}, {"title", type.name()}});
  return reference_to(type.name());
}

OpenApiJson OpenApiComponents::array_schema(const Type& type) {
  add_array_data(*this);
  return array_object_schema(type.array_spec(), type.is_differentiable());
}

OpenApiJson OpenApiComponents::untitled_array() {
  add_array_data(*this);
  OpenApiJson schema = array_object_schema(ArraySpec{}, false);
  schema.erase("title");
  return schema;
}

OpenApiJson OpenApiComponents::to_json() const {
  OpenApiJson components = OpenApiJson::object();
  for (const auto& [name, schema] : schemas_) {
    components[name] = schema;
  }
  return components;
}

}  // namespace tessera
