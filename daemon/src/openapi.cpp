#include "tessera/daemon/openapi.h"

#include <string_view>
#include <utility>

#include "openapi_components.h"

namespace tessera {
namespace {

OpenApiJson components_of(const TesseractDefinition& definition, bool with_test) {
  OpenApiComponents components;
  add_apply(components, definition);
  if (definition.has(Endpoint::kJacobian)) {
    add_jacobian(components, definition.inputs(), definition.outputs());
  }
  if (definition.has(Endpoint::kJacobianVectorProduct)) {
    add_jacobian_vector_product(components, definition.inputs(), definition.outputs());
  }
  if (definition.has(Endpoint::kVectorJacobianProduct)) {
    add_vector_jacobian_product(components, definition.inputs(), definition.outputs());
  }
  if (definition.has(Endpoint::kAbstractEval)) {
    add_abstract_eval(components, definition);
  }
  if (with_test) {
    add_test(components);
  }
  add_validation_errors(components);
  return components.to_json();
}

/// Variables of an environment hold line breaks as the two characters `\n`.
std::string with_newlines(std::string_view text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_break = text.substr(at, 2) == "\\n";
    lines += is_break ? '\n' : text[at];
    at += is_break ? 1 : 0;
  }
  return lines;
}

OpenApiJson info_of(const TesseractDefinition& definition, const RuntimeConfig& config) {
  OpenApiJson info = {{"title", config.name.value_or(definition.name())},
                      {"version", config.version.value_or(definition.version())}};
  const std::string description = with_newlines(config.description.value_or(definition.description()));
  if (!description.empty()) {
    info["description"] = description;
  }
  return info;
}

}  // namespace

std::string openapi_document(const TesseractDefinition& definition, const RuntimeConfig& config) {
  OpenApiJson transports = OpenApiJson::array({"none"});
  if (config.gpu_transport != "none") {
    transports.push_back(config.gpu_transport);
  }
  const OpenApiJson document = {{"openapi", "3.1.0"},
                                {"info", info_of(definition, config)},
                                {"paths", openapi_paths(definition, config.debug)},
                                {"components", {{"schemas", components_of(definition, config.debug)}}},
                                {"x-supported-output-formats", {"json", "json+base64", "json+binref"}},
                                {"x-supported-gpu-transports", std::move(transports)},
                                {"x-supported-compressions", OpenApiJson::array({"none", "lz4"})}};
  // Texts of authors need not be UTF-8; what is not, is shown as such.
  return document.dump(-1, ' ', false, OpenApiJson::error_handler_t::replace);
}

}  // namespace tessera
