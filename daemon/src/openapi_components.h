// The parts of an OpenAPI document that describe values: models, arrays, gradients (PROTOCOL.md sections 9.1 and 9.2).
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/tesseract/definition.h"
#include "tessera/tesseract/schema.h"
#include "tessera/tesseract/type.h"

namespace tessera {

using OpenApiJson = nlohmann::ordered_json;

/// Whether arrays are described as values, or by shape and dtype (abstract_eval).
enum class ArrayForm { kValues, kShapes };

/// Collects the named schemas of a document; each appears once, however often it is referred to. One thread at a time.
class OpenApiComponents {
 public:
  /// `{"$ref":"#/components/schemas/<name>"}`.
  [[nodiscard]] static OpenApiJson reference_to(const std::string& name);

  /// Adds a component under exactly this name.
  void add(const std::string& name, OpenApiJson schema);
  /// Adds a model and all that it refers to, each under `<prefix>_<its name>`; returns the name of the model's own.
  [[nodiscard]] std::string add_model(const std::string& prefix, const Schema& schema, ArrayForm form);
  /// An array of any rank and dtype without a title, as gradients have it.
  [[nodiscard]] OpenApiJson untitled_array();

  /// All components by name.
  [[nodiscard]] OpenApiJson to_json() const;

 private:
  [[nodiscard]] OpenApiJson field_schema(const std::string& prefix, const Field& field, ArrayForm form);
  [[nodiscard]] OpenApiJson type_schema(const std::string& prefix, const Type& type, ArrayForm form);
  [[nodiscard]] OpenApiJson bare_type_schema(const std::string& prefix, const Type& type, ArrayForm form);
  [[nodiscard]] OpenApiJson dict_schema(const std::string& prefix, const Type& type, ArrayForm form);
  [[nodiscard]] OpenApiJson enumeration_schema(const Type& type);
  [[nodiscard]] OpenApiJson array_schema(const Type& type);

  std::map<std::string, OpenApiJson> schemas_;
};

/// The schema of an array object, as it stands wherever an array is used; it refers to the data components.
[[nodiscard]] OpenApiJson array_object_schema(const ArraySpec& spec, bool is_differentiable);
/// Adds what array objects refer to: one component for each encoding.
void add_array_data(OpenApiComponents& components);
/// Adds ShapeDType.
void add_shape_dtype(OpenApiComponents& components);

/// Adds the bodies of apply and abstract_eval, of test, and of a 422.
void add_apply(OpenApiComponents& components, const TesseractDefinition& definition);
void add_abstract_eval(OpenApiComponents& components, const TesseractDefinition& definition);
void add_test(OpenApiComponents& components);
void add_validation_errors(OpenApiComponents& components);
/// Adds the input and output components of the three gradient endpoints that are asked for.
void add_jacobian(OpenApiComponents& components, const Schema& inputs, const Schema& outputs);
void add_jacobian_vector_product(OpenApiComponents& components, const Schema& inputs, const Schema& outputs);
void add_vector_jacobian_product(OpenApiComponents& components, const Schema& inputs, const Schema& outputs);

/// The routes that the document shows, in its order.
[[nodiscard]] OpenApiJson openapi_paths(const TesseractDefinition& definition, bool with_test);

/// A value as JSON, without the members of objects that are null; arrays as nested lists.
[[nodiscard]] OpenApiJson default_to_json(const Value& value);

}  // namespace tessera
