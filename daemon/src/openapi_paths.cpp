#include <map>
#include <utility>
#include <vector>

#include "openapi_components.h"

namespace tessera {
namespace {

/// What the document says about an endpoint, in the words of the Python runtime.
struct EndpointText {
  const char* summary;
  const char* request;   // component of the request body
  const char* response;  // component of the response
  const char* headline;
  std::vector<const char*> details;
};

const EndpointText& text_of(Endpoint endpoint) {
  static const std::map<Endpoint, EndpointText> kTexts = {
      {Endpoint::kApply,
       {"Apply", "ApplyInputSchema", "ApplyOutputSchema", "Apply the Tesseract to the input data.", {}}},
      {Endpoint::kJacobian,
       {"Jacobian",
        "JacobianInputSchema",
        "JacobianOutputSchema",
        "Computes the Jacobian of the Tesseract.",
        {"Differentiates ``jac_outputs`` with respect to ``jac_inputs``, at the point ``inputs``."}}},
      {Endpoint::kJacobianVectorProduct,
       {"Jacobian Vector Product",
        "JVPInputSchema",
        "JVPOutputSchema",
        "Compute the Jacobian vector product of the Tesseract at the input data.",
        {"Evaluates the Jacobian vector product between the Jacobian given by ``jvp_outputs``",
         "with respect to ``jvp_inputs`` at the point ``inputs`` and the given tangent vector."}}},
      {Endpoint::kVectorJacobianProduct,
       {"Vector Jacobian Product",
        "VJPInputSchema",
        "VJPOutputSchema",
        "Compute the Jacobian vector product of the Tesseract at the input data.",
        {"Computes the vector Jacobian product between the Jacobian given by ``vjp_outputs``",
         "with respect to ``vjp_inputs`` at the point ``inputs`` and the given cotangent vector."}}},
      {Endpoint::kAbstractEval,
       {"Abstract Eval",
        "AbstractInputSchema",
        "AbstractOutputSchema",
        "Perform abstract evaluation of the Tesseract on the input data.",
        {}}},
  };
  return kTexts.at(endpoint);
}

// The runtime's own text keeps the indentation of its source once an author's text follows; a client sees it so.
std::string description_of(const EndpointText& text, const std::string& documentation) {
  const char* indent = documentation.empty() ? "" : "            ";
  std::string description = text.headline;
  if (!text.details.empty()) {
    description += "\n";
    for (const char* line : text.details) {
      description.append("\n").append(indent).append(line);
    }
    if (!documentation.empty()) {
      description.append("\n").append(indent);
    }
  }
  return documentation.empty() ? description : description + "\n\n" + documentation;
}

OpenApiJson json_content(const std::string& component) {
  return {{"application/json", {{"schema", OpenApiComponents::reference_to(component)}}}};
}

OpenApiJson post_operation(const std::string& route, const std::string& summary, const std::string& description,
                           const std::string& request, const std::string& response) {
  return {{"summary", summary},
          {"description", description},
          {"operationId", route + "_" + route + "_post"},
          {"requestBody", {{"required", true}, {"content", json_content(request)}}},
          {"responses",
           {{"200", {{"description", "Successful Response"}, {"content", json_content(response)}}},
            {"422", {{"description", "Validation Error"}, {"content", json_content("HTTPValidationError")}}}}}};
}

OpenApiJson endpoint_path(const TesseractDefinition& definition, Endpoint endpoint) {
  const EndpointText& text = text_of(endpoint);
  OpenApiJson operation =
      post_operation(std::string(name_of(endpoint)), text.summary,
                     description_of(text, definition.documentation(endpoint)), text.request, text.response);
  if (endpoint != Endpoint::kAbstractEval) {
    const OpenApiJson optional_text = {{"anyOf", OpenApiJson::array({{{"type", "string"}}, {{"type", "null"}}})},
                                       {"title", "Accept"}};
    operation["parameters"] =
        OpenApiJson::array({{{"name", "accept"}, {"in", "header"}, {"required", false}, {"schema", optional_text}}});
  }
  return {{"post", std::move(operation)}};
}

OpenApiJson health_path() {
  const OpenApiJson schema = {
      {"additionalProperties", true}, {"type", "object"}, {"title", "Response Health Health Get"}};
  return {
      {"get",
       {{"summary", "Health"},
        {"description", "Get health status of the Tesseract instance."},
        {"operationId", "health_health_get"},
        {"responses",
         {{"200",
           {{"description", "Successful Response"}, {"content", {{"application/json", {{"schema", schema}}}}}}}}}}}};
}

OpenApiJson test_path() {
  return {{"post",
           post_operation("test", "Test", "Runs another endpoint and compares what it gives with what was expected.",
                          "TestSpec", "TestOutputSchema")}};
}

}  // namespace

OpenApiJson openapi_paths(const TesseractDefinition& definition, bool with_test) {
  OpenApiJson paths = OpenApiJson::object();
  const auto add = [&](Endpoint endpoint) {
    if (definition.has(endpoint)) {
      paths["/" + std::string(name_of(endpoint))] = endpoint_path(definition, endpoint);
    }
  };
  add(Endpoint::kApply);
  add(Endpoint::kJacobian);
  add(Endpoint::kJacobianVectorProduct);
  add(Endpoint::kVectorJacobianProduct);
  paths["/health"] = health_path();
  add(Endpoint::kAbstractEval);
  if (with_test) {
    paths["/test"] = test_path();
  }
  return paths;
}

}  // namespace tessera
