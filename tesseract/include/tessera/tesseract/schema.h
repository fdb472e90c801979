// The description of inputs or outputs: named fields in order, each with a type. From it come validation, the OpenAPI
// document, and the shapes-only form of abstract_eval.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/tesseract/type.h"

namespace tessera {

/// One member of a schema.
struct Field {
  std::string name;
  Type type;
  std::string description;
  /// The value where none is given; a field without one is required. Already of the field's type (arrays are arrays).
  std::optional<Value> default_value;
  /// Whether the document shows the default; false for those that upstream makes by a factory.
  bool is_default_shown = true;

  [[nodiscard]] bool is_required() const { return !default_value.has_value(); }
};

/// A differentiable array of a schema, by template: `a.b`, `layers.[].weights`, `named.{}` (PROTOCOL.md section 9.1).
struct DifferentiableArray {
  std::string path_template;
  ArraySpec spec;
};

/// Says why an object breaks a rule, or nothing. Arrays in it have shapes, and no data in abstract_eval. Called
/// for inputs and outputs, from several threads, and perhaps twice for one request; one that throws counts as broken,
/// with that text.
using Rule = std::function<std::optional<std::string>(const Object&)>;

/// Named fields in order (PROTOCOL.md sections 9.1 and 15). Built by chained calls, then constant; a constant one is
/// safe to use from any thread. Clients (JAX among them) need the names "InputSchema" and "OutputSchema" for the
/// outermost schemas.
class Schema {
 public:
  explicit Schema(std::string name) : name_(std::move(name)) {}

  /// Adds a required field. Throws std::invalid_argument for a name that is there already or is no identifier
  /// (as Python has them).
  Schema& field(std::string name, Type type, std::string description = "");
  /// Adds a field with a default, in any form that the type accepts (a number for an array of rank zero, null for an
  /// optional one). Throws std::invalid_argument, too, if the default does not fit the type.
  Schema& field(std::string name, Type type, std::string description, Value default_value);
  /// Adds a field with a default that the document does not show.
  Schema& field_with_hidden_default(std::string name, Type type, std::string description, Value default_value);
  /// Accepts keys that no field names, and hands them on: values without arrays.
  Schema& allow_extra_keys();
  /// Adds a rule across fields; checked when every field is right.
  Schema& rule(Rule rule);
  /// Describes the schema itself.
  Schema& describe(std::string description);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] const std::vector<Field>& fields() const { return fields_; }
  /// The position of a field, if there is one of that name.
  [[nodiscard]] std::optional<std::size_t> find_field(std::string_view name) const;
  [[nodiscard]] bool allows_extra_keys() const { return allows_extra_keys_; }
  [[nodiscard]] const std::vector<Rule>& rules() const { return rules_; }
  /// The differentiable arrays at every depth, in the order of the schema.
  [[nodiscard]] const std::vector<DifferentiableArray>& differentiable_arrays() const { return differentiable_arrays_; }

 private:
  Schema& add(Field field);

  std::string name_;
  std::string description_;
  std::vector<Field> fields_;
  bool allows_extra_keys_ = false;
  std::vector<Rule> rules_;
  std::vector<DifferentiableArray> differentiable_arrays_;
};

/// Adds the defaults of every field that `object` lacks, at every depth: what upstream does when an endpoint returns an
/// instance of its output model, so that all fields are in the answer (PROTOCOL.md section 4.1). Members come in the
/// order of the schema, extra keys last.
[[nodiscard]] Object with_defaults(Object object, const Schema& schema);

}  // namespace tessera
