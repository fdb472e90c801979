#include <map>
#include <utility>

#include "openapi_components.h"

namespace tessera {
namespace {

/// The fields of a model and of all models in it, by the path that leads to each.
void add_field_order(std::map<std::string, OpenApiJson>& order, const std::string& path, const Schema& schema) {
  OpenApiJson names = OpenApiJson::array();
  for (const Field& field : schema.fields()) {
    names.push_back(field.name);
    std::string member = path.empty() ? field.name : path + "." + field.name;
    const Type* type = &field.type;
    while (type->kind() == Type::Kind::kList || type->kind() == Type::Kind::kDict) {
      member += type->kind() == Type::Kind::kList ? ".[]" : ".{}";
      type = &type->element();
    }
    if (type->kind() == Type::Kind::kObject) {
      add_field_order(order, member, type->schema());
    }
  }
  order[path] = std::move(names);
}

void add_tree_facts(OpenApiJson& component, const Schema& schema) {
  std::map<std::string, OpenApiJson> arrays;
  for (const DifferentiableArray& array : schema.differentiable_arrays()) {
    OpenApiJson facts = OpenApiJson::object();
    if (array.spec.dtype) {
      facts["dtype"] = name_of(*array.spec.dtype);
    }
    if (array.spec.shape) {
      facts["shape"] = OpenApiJson::array();
      for (const std::int64_t size : *array.spec.shape) {
        facts["shape"].push_back(size == kFreeAxis ? OpenApiJson(nullptr) : OpenApiJson(size));
      }
    }
    arrays[array.path_template] = std::move(facts);
  }
  std::map<std::string, OpenApiJson> order;
  add_field_order(order, "", schema);
  component["differentiable_arrays"] = std::move(arrays);
  component["field_order"] = std::move(order);
}

OpenApiJson inputs_only(const char* name, const std::string& model, const char* description) {
  OpenApiJson inputs = OpenApiComponents::reference_to(model);
  inputs["description"] = description;
  return {{"properties", {{"inputs", std::move(inputs)}}},
          {"additionalProperties", false},
          {"type", "object"},
          {"required", OpenApiJson::array({"inputs"})},
          {"title", name}};
}

OpenApiJson titled_reference(const char* name, const std::string& model, const char* description) {
  OpenApiJson schema = OpenApiComponents::reference_to(model);
  schema["title"] = name;
  schema["description"] = description;
  return schema;
}

OpenApiJson optional_member(OpenApiJson type, const char* title) {
  return {{"anyOf", OpenApiJson::array({std::move(type), {{"type", "null"}}})}, {"title", title}};
}

}  // namespace

void add_apply(OpenApiComponents& components, const TesseractDefinition& definition) {
  OpenApiJson inputs =
      inputs_only("ApplyInputSchema", components.add_model("Apply", definition.inputs(), ArrayForm::kValues),
                  "The input data to apply the Tesseract to.");
  add_tree_facts(inputs, definition.inputs());
  components.add("ApplyInputSchema", std::move(inputs));
  OpenApiJson outputs =
      titled_reference("ApplyOutputSchema", components.add_model("Apply", definition.outputs(), ArrayForm::kValues),
                       "The output data from applying the Tesseract.");
  add_tree_facts(outputs, definition.outputs());
  components.add("ApplyOutputSchema", std::move(outputs));
}

void add_abstract_eval(OpenApiComponents& components, const TesseractDefinition& definition) {
  components.add(
      "AbstractInputSchema",
      inputs_only("AbstractInputSchema", components.add_model("AbstractEval", definition.inputs(), ArrayForm::kShapes),
                  "The abstract input data to evaluate the Tesseract on. Has the same structure as InputSchema, but "
                  "with array fields replaced by ShapeDType."));
  components.add(
      "AbstractOutputSchema",
      titled_reference("AbstractOutputSchema",
                       components.add_model("AbstractEval", definition.outputs(), ArrayForm::kShapes),
                       "Abstract outputs with the same structure as OutputSchema, but with array fields replaced by "
                       "ShapeDType."));
}

void add_test(OpenApiComponents& components) {
  const OpenApiJson text = {{"type", "string"}};
  const OpenApiJson any_object = {{"additionalProperties", true}, {"type", "object"}};
  const OpenApiJson texts = {{"items", text}, {"type", "array"}};
  components.add("TestCliConfig", {{"properties",
                                    {{"input_path", optional_member(text, "Input Path")},
                                     {"volume_mounts", optional_member(texts, "Volume Mounts")},
                                     {"user", optional_member(text, "User")}}},
                                   {"type", "object"},
                                   {"title", "TestCliConfig"},
                                   {"description", "Settings of the command line that a test was written for."}});
  OpenApiJson cli_config = optional_member(OpenApiComponents::reference_to("TestCliConfig"), "");
  cli_config.erase("title");
  components.add(
      "TestSpec",
      {{"properties",
        {{"endpoint", {{"type", "string"}, {"title", "Endpoint"}}},
         {"payload", {{"additionalProperties", true}, {"type", "object"}, {"title", "Payload"}}},
         {"expected_outputs", optional_member(any_object, "Expected Outputs")},
         {"expected_exception", optional_member(OpenApiJson::object(), "Expected Exception")},
         {"expected_exception_regex", optional_member(text, "Expected Exception Regex")},
         {"atol", {{"type", "number"}, {"title", "Atol"}, {"default", 1e-8}}},
         {"rtol", {{"type", "number"}, {"title", "Rtol"}, {"default", 1e-5}}},
         {"skip_output_path_checks", {{"type", "boolean"}, {"title", "Skip Output Path Checks"}, {"default", false}}},
         {"cli_config", std::move(cli_config)}}},
       {"type", "object"},
       {"required", {"endpoint", "payload"}},
       {"title", "TestSpec"},
       {"description", "One test of an endpoint, with either the outputs or the exception that it shall give."}});
  components.add("TestOutputSchema",
                 {{"properties",
                   {{"status", {{"type", "string"}, {"enum", {"passed", "failed", "error"}}, {"title", "Status"}}},
                    {"message", {{"type", "string"}, {"title", "Message"}}},
                    {"endpoint", {{"type", "string"}, {"title", "Endpoint"}}}}},
                  {"type", "object"},
                  {"required", {"status", "message", "endpoint"}},
                  {"title", "TestOutputSchema"},
                  {"description", "What a test came to."}});
}

void add_validation_errors(OpenApiComponents& components) {
  const OpenApiJson text_or_integer = {{"anyOf", OpenApiJson::array({{{"type", "string"}}, {{"type", "integer"}}})}};
  components.add("ValidationError", {{"properties",
                                      {{"loc", {{"items", text_or_integer}, {"type", "array"}, {"title", "Location"}}},
                                       {"msg", {{"type", "string"}, {"title", "Message"}}},
                                       {"type", {{"type", "string"}, {"title", "Error Type"}}},
                                       {"input", {{"title", "Input"}}},
                                       {"ctx", {{"type", "object"}, {"title", "Context"}}}}},
                                     {"type", "object"},
                                     {"required", {"loc", "msg", "type"}},
                                     {"title", "ValidationError"}});
  const OpenApiJson items = OpenApiComponents::reference_to("ValidationError");
  components.add("HTTPValidationError",
                 {{"properties", {{"detail", {{"items", items}, {"type", "array"}, {"title", "Detail"}}}}},
                  {"type", "object"},
                  {"title", "HTTPValidationError"}});
}

}  // namespace tessera
