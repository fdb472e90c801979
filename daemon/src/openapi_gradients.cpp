#include <utility>

#include "openapi_components.h"
#include "tessera/tesseract/path.h"

namespace tessera {
namespace {

OpenApiJson alternative(const std::string& path_template) {
  if (is_pattern(path_template)) {
    return {{"type", "string"}, {"pattern", pattern_of(path_template)}};
  }
  return {{"type", "string"}, {"const", path_template}};
}

OpenApiJson path_set(const std::vector<DifferentiableArray>& arrays, const char* title, const char* description) {
  OpenApiJson alternatives = OpenApiJson::array();
  for (const DifferentiableArray& array : arrays) {
    alternatives.push_back(alternative(array.path_template));
  }
  OpenApiJson items = alternatives.size() == 1 ? alternatives.front() : OpenApiJson{{"anyOf", alternatives}};
  return {{"items", std::move(items)}, {"type", "array"}, {"minItems", 1},
          {"uniqueItems", true},       {"title", title},  {"description", description}};
}

/// A map from the paths of arrays to values; with one path template only, the keys are stated too.
OpenApiJson path_map(const std::vector<DifferentiableArray>& arrays, OpenApiJson values) {
  OpenApiJson schema = OpenApiJson::object();
  if (arrays.size() == 1 && is_pattern(arrays.front().path_template)) {
    schema["patternProperties"][pattern_of(arrays.front().path_template)] = std::move(values);
  } else {
    schema["additionalProperties"] = std::move(values);
    if (arrays.size() == 1) {
      schema["propertyNames"] = {{"const", arrays.front().path_template}};
    }
  }
  schema["type"] = "object";
  return schema;
}

OpenApiJson titled(OpenApiJson schema, const char* title, const char* description) {
  schema["title"] = title;
  schema["description"] = description;
  return schema;
}

OpenApiJson inputs_member(OpenApiComponents& components, const char* prefix, const Schema& inputs,
                          const char* description) {
  OpenApiJson member = OpenApiComponents::reference_to(components.add_model(prefix, inputs, ArrayForm::kValues));
  member["description"] = description;
  return member;
}

void add_request(OpenApiComponents& components, const char* name, OpenApiJson members) {
  OpenApiJson required = OpenApiJson::array();
  for (const auto& [key, member] : members.items()) {
    required.push_back(key);
  }
  components.add(name, {{"properties", std::move(members)},
                        {"additionalProperties", false},
                        {"type", "object"},
                        {"required", std::move(required)},
                        {"title", name}});
}

}  // namespace

void add_jacobian(OpenApiComponents& components, const Schema& inputs, const Schema& outputs) {
  const std::vector<DifferentiableArray>& from = inputs.differentiable_arrays();
  const std::vector<DifferentiableArray>& to = outputs.differentiable_arrays();
  add_request(
      components, "JacobianInputSchema",
      {{"inputs", inputs_member(components, "Jacobian", inputs, "The input data to compute the Jacobian at.")},
       {"jac_inputs",
        path_set(from, "Jac Inputs", "The set of differentiable inputs to compute the Jacobian with respect to.")},
       {"jac_outputs", path_set(to, "Jac Outputs", "The set of differentiable outputs to compute the Jacobian of.")}});
  components.add(
      "JacobianOutputSchema",
      titled(path_map(to, path_map(from, components.untitled_array())), "JacobianOutputSchema",
             "Container for the results of Jacobian computations. The result represents a nested structure of the "
             "Jacobian matrix as a mapping with structure ``{jac_outputs: {jac_inputs: array}}``. The shape of each "
             "array is the concatenation of the shapes of the output and input arrays, i.e. "
             "``(*output_array.shape, *input_array.shape)``."));
}

void add_jacobian_vector_product(OpenApiComponents& components, const Schema& inputs, const Schema& outputs) {
  const std::vector<DifferentiableArray>& from = inputs.differentiable_arrays();
  const std::vector<DifferentiableArray>& to = outputs.differentiable_arrays();
  add_request(components, "JVPInputSchema",
              {{"inputs", inputs_member(components, "Jvp", inputs, "The input data to compute the JVP at.")},
               {"jvp_inputs",
                path_set(from, "Jvp Inputs", "The set of differentiable inputs to compute the JVP with respect to.")},
               {"jvp_outputs", path_set(to, "Jvp Outputs", "The set of differentiable outputs to compute the JVP of.")},
               {"tangent_vector",
                titled(path_map(from, components.untitled_array()), "Tangent Vector",
                       "Tangent vector to multiply the Jacobian with. Expected to be a mapping with structure "
                       "``{jvp_inputs: array}``. The shape of each array is the same as the shape of the "
                       "corresponding input array.")}});
  components.add("JVPOutputSchema",
                 titled(path_map(to, components.untitled_array()), "JVPOutputSchema",
                        "Container for the results of Jacobian-vector products. The result is a mapping with structure "
                        "``{jvp_outputs: array}``. The shape of each array is the same as the shape of the "
                        "corresponding output array."));
}

void add_vector_jacobian_product(OpenApiComponents& components, const Schema& inputs, const Schema& outputs) {
  const std::vector<DifferentiableArray>& from = inputs.differentiable_arrays();
  const std::vector<DifferentiableArray>& to = outputs.differentiable_arrays();
  add_request(components, "VJPInputSchema",
              {{"inputs", inputs_member(components, "Vjp", inputs, "The input data to compute the VJP at.")},
               {"vjp_inputs",
                path_set(from, "Vjp Inputs", "The set of differentiable inputs to compute the VJP with respect to.")},
               {"vjp_outputs", path_set(to, "Vjp Outputs", "The set of differentiable outputs to compute the VJP of.")},
               {"cotangent_vector",
                titled(path_map(to, components.untitled_array()), "Cotangent Vector",
                       "Cotangent vector to multiply the Jacobian with. Expected to be a mapping with structure "
                       "``{vjp_outputs: array}``. The shape of each array is the same as the shape of the "
                       "corresponding output array.")}});
  components.add("VJPOutputSchema",
                 titled(path_map(from, components.untitled_array()), "VJPOutputSchema",
                        "Container for the results of vector-Jacobian products. The result is a mapping with structure "
                        "``{vjp_inputs: array}``. The shape of each array is the same as the shape of the "
                        "corresponding input array."));
}

}  // namespace tessera
