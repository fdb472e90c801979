#include "type_words.h"

#include <algorithm>
#include <optional>

#include "openapi_components.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

// Of one array in an example; larger ones are only hinted at.
constexpr std::int64_t kMaxExampleElements = 12;
// Bounds are doubles; beyond this they need not be integers of 64 bits.
constexpr double kLargestExample = 1e15;

std::string bound_text(double bound) {
  const std::string text = python_repr(bound);
  return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
}

std::string array_words(const Type& type) {
  const ArraySpec& spec = type.array_spec();
  const std::string dtype = spec.dtype ? std::string(name_of(*spec.dtype)) : "any dtype";
  std::string words;
  if (spec.shape && spec.shape->empty()) {
    words = dtype + " number";
  } else if (!spec.shape) {
    words = dtype + " array of any rank";
  } else {
    words = dtype + " array of shape (";
    for (const std::int64_t size : *spec.shape) {
      words += words.back() == '(' ? "" : ", ";
      words += size == kFreeAxis ? "any" : std::to_string(size);
    }
    words += ")";
  }
  return type.is_differentiable() ? words + ", differentiable" : words;
}

std::string number_words(const char* name, const Bounds& bounds) {
  std::string words = name;
  const auto add = [&words](const char* before, const std::optional<double>& bound) {
    if (bound) {
      words += before + bound_text(*bound);
    }
  };
  add(", at least ", bounds.ge);
  add(", above ", bounds.gt);
  add(", at most ", bounds.le);
  add(", below ", bounds.lt);
  return words;
}

std::string length_words(const Type& type, const char* unit) {
  std::string words;
  if (const std::optional<std::size_t> length = type.min_length()) {
    words += ", at least " + std::to_string(*length) + unit;
  }
  if (const std::optional<std::size_t> length = type.max_length()) {
    words += ", at most " + std::to_string(*length) + unit;
  }
  return words;
}

std::string text_words(const Type& type) {
  const std::string words = "text" + length_words(type, " characters");
  const std::optional<std::string>& pattern = type.pattern();
  return pattern ? words + ", matching " + *pattern : words;
}

std::string choice_words(const Type& type) {
  std::vector<std::string> texts;
  for (const Value& choice : type.choices()) {
    texts.push_back(plain_json(choice));
  }
  return python_choices(texts);
}

std::string bare_words(const Type& type) {
  switch (type.kind()) {
    case Type::Kind::kArray:
      return array_words(type);
    case Type::Kind::kInteger:
      return number_words("integer", type.bounds());
    case Type::Kind::kNumber:
      return number_words("number", type.bounds());
    case Type::Kind::kBoolean:
      return "boolean";
    case Type::Kind::kText:
      return text_words(type);
    case Type::Kind::kChoice:
    case Type::Kind::kEnumeration:
      return choice_words(type);
    case Type::Kind::kList:
      return "list of (" + words_for(type.element()) + ")" + length_words(type, " items");
    case Type::Kind::kDict:
      return "object of named (" + words_for(type.element()) + ")" + length_words(type, " members");
    case Type::Kind::kObject:
      return type.schema().name();
    case Type::Kind::kAny:
      break;
  }
  return "any value";
}

OpenApiJson example_of(const Schema& schema);

OpenApiJson array_example(const ArraySpec& spec) {
  Shape shape = spec.shape.value_or(Shape{2});
  for (std::int64_t& size : shape) {
    size = size == kFreeAxis ? 2 : size;
  }
  const DType dtype = spec.dtype.value_or(DType::kFloat64);
  const std::optional<std::int64_t> count = element_count(shape);
  if (count && *count <= kMaxExampleElements && kind_of(dtype) != DTypeKind::kComplex && *count > 0) {
    return default_to_json(Value(Array::zeros(dtype, shape)));
  }
  return {{"shape", shape}, {"dtype", name_of(dtype)}, {"data", {{"buffer", "…"}, {"encoding", "base64"}}}};
}

double example_number(const Bounds& bounds) {
  const double lowest = bounds.ge.value_or(bounds.gt ? *bounds.gt + 1.0 : 1.0);
  const double highest = bounds.le.value_or(bounds.lt ? *bounds.lt - 1.0 : lowest);
  return bounds.ge || bounds.gt ? lowest : std::min(lowest, highest);
}

OpenApiJson example_of(const Type& type) {
  switch (type.kind()) {
    case Type::Kind::kArray:
      return array_example(type.array_spec());
    case Type::Kind::kInteger:
      return static_cast<std::int64_t>(std::clamp(example_number(type.bounds()), -kLargestExample, kLargestExample));
    case Type::Kind::kNumber:
      return example_number(type.bounds());
    case Type::Kind::kBoolean:
      return false;
    case Type::Kind::kText:
      return type.pattern() ? "…" : "text";
    case Type::Kind::kChoice:
    case Type::Kind::kEnumeration:
      return type.choices().empty() ? OpenApiJson(nullptr) : default_to_json(type.choices().front());
    case Type::Kind::kList:
      return OpenApiJson::array({example_of(type.element())});
    case Type::Kind::kDict:
      return {{"name", example_of(type.element())}};
    case Type::Kind::kObject:
      return example_of(type.schema());
    case Type::Kind::kAny:
      break;
  }
  return nullptr;
}

OpenApiJson example_of(const Schema& schema) {
  OpenApiJson example = OpenApiJson::object();
  for (const Field& field : schema.fields()) {
    if (field.is_required()) {
      example[field.name] = example_of(field.type);
    }
  }
  return example;
}

std::string dump(const OpenApiJson& json) {
  return json.dump(-1, ' ', false, OpenApiJson::error_handler_t::replace);
}

}  // namespace

std::string words_for(const Type& type) {
  return bare_words(type) + (type.is_optional() ? ", or null" : "");
}

std::string example_json(const Schema& schema) {
  return dump(example_of(schema));
}

std::string plain_json(const Value& value) {
  return dump(default_to_json(value));
}

}  // namespace tessera
