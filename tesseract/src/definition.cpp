#include "tessera/tesseract/definition.h"

#include <algorithm>
#include <array>

#include "tessera/base/ascii.h"

namespace tessera {
namespace {

constexpr std::array<std::string_view, kEndpointCount> kEndpointNames = {"apply", "jacobian", "jacobian_vector_product",
                                                                         "vector_jacobian_product", "abstract_eval"};

// Routes that are no endpoints: those of ours, those of the protocol that are not served here, and those that later
// ones will need at the root.
constexpr auto kOtherRoutes = std::to_array<std::string_view>(
    {"health", "test", "check_gpu_transport", "openapi.json", "docs", "redoc", "metrics", "gpu", "leases"});

std::size_t index_of(Endpoint endpoint) {
  return static_cast<std::size_t>(endpoint);
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-' || c == '.';
}

Error wrong(std::string text) {
  return {ErrorCode::kInvalidArgument, std::move(text)};
}

Status check_name(const std::string& name) {
  if (name.empty() || name == "." || name == ".." || !std::ranges::all_of(name, is_name_character)) {
    return wrong("the name '" + name + "' of a Tesseract must be made of letters, digits, '_', '-' and '.'");
  }
  if (is_route_name(name)) {
    return wrong("'" + name + "' is the name of a route and cannot be the name of a Tesseract");
  }
  return {};
}

// Clients such as Tesseract-JAX look the two models up by name (PROTOCOL.md section 15).
Status check_schema_name(const Schema& schema, std::string_view expected, const std::string& tesseract) {
  if (schema.name() != expected) {
    return wrong("Tesseract '" + tesseract + "': the outermost schema is named '" + schema.name() +
                 "', but clients look for '" + std::string(expected) + "'");
  }
  return {};
}

}  // namespace

std::string_view name_of(Endpoint endpoint) {
  return kEndpointNames.at(index_of(endpoint));
}

std::optional<Endpoint> find_endpoint(std::string_view name) {
  const auto* found = std::ranges::find(kEndpointNames, name);
  if (found == kEndpointNames.end()) {
    return std::nullopt;
  }
  return static_cast<Endpoint>(found - kEndpointNames.begin());
}

bool is_route_name(std::string_view name) {
  return find_endpoint(name).has_value() || std::ranges::find(kOtherRoutes, name) != kOtherRoutes.end();
}

TesseractDefinition& TesseractDefinition::version(std::string version) {
  version_ = std::move(version);
  return *this;
}

TesseractDefinition& TesseractDefinition::describe(std::string description) {
  description_ = std::move(description);
  return *this;
}

TesseractDefinition& TesseractDefinition::inputs(Schema schema) {
  inputs_ = std::move(schema);
  return *this;
}

TesseractDefinition& TesseractDefinition::outputs(Schema schema) {
  outputs_ = std::move(schema);
  return *this;
}

TesseractDefinition& TesseractDefinition::takes_device_arrays() {
  takes_device_arrays_ = true;
  return *this;
}

TesseractDefinition& TesseractDefinition::apply(ApplyFunction function, std::string documentation) {
  apply_ = std::move(function);
  documentation_[index_of(Endpoint::kApply)] = std::move(documentation);
  return *this;
}

TesseractDefinition& TesseractDefinition::jacobian(JacobianFunction function, std::string documentation) {
  jacobian_ = std::move(function);
  documentation_[index_of(Endpoint::kJacobian)] = std::move(documentation);
  return *this;
}

TesseractDefinition& TesseractDefinition::jacobian_vector_product(JvpFunction function, std::string documentation) {
  jvp_ = std::move(function);
  documentation_[index_of(Endpoint::kJacobianVectorProduct)] = std::move(documentation);
  return *this;
}

TesseractDefinition& TesseractDefinition::vector_jacobian_product(VjpFunction function, std::string documentation) {
  vjp_ = std::move(function);
  documentation_[index_of(Endpoint::kVectorJacobianProduct)] = std::move(documentation);
  return *this;
}

TesseractDefinition& TesseractDefinition::abstract_eval(AbstractEvalFunction function, std::string documentation) {
  abstract_eval_ = std::move(function);
  documentation_[index_of(Endpoint::kAbstractEval)] = std::move(documentation);
  return *this;
}

Status TesseractDefinition::check() const {
  TESSERA_RETURN_IF_ERROR(check_name(name_));
  if (!has(Endpoint::kApply)) {
    return wrong("Tesseract '" + name_ + "' has no apply function");
  }
  TESSERA_RETURN_IF_ERROR(check_schema_name(inputs_, "InputSchema", name_));
  TESSERA_RETURN_IF_ERROR(check_schema_name(outputs_, "OutputSchema", name_));
  for (const Endpoint endpoint :
       {Endpoint::kJacobian, Endpoint::kJacobianVectorProduct, Endpoint::kVectorJacobianProduct}) {
    if (!has(endpoint)) {
      continue;
    }
    const std::string reason = "Tesseract '" + name_ + "' has " + std::string(name_of(endpoint)) + ", but ";
    if (inputs_.differentiable_arrays().empty()) {
      return wrong(reason + "no array of its inputs is differentiable");
    }
    if (outputs_.differentiable_arrays().empty()) {
      return wrong(reason + "no array of its outputs is differentiable");
    }
  }
  return {};
}

bool TesseractDefinition::has(Endpoint endpoint) const {
  switch (endpoint) {
    case Endpoint::kApply:
      return apply_ != nullptr;
    case Endpoint::kJacobian:
      return jacobian_ != nullptr;
    case Endpoint::kJacobianVectorProduct:
      return jvp_ != nullptr;
    case Endpoint::kVectorJacobianProduct:
      return vjp_ != nullptr;
    case Endpoint::kAbstractEval:
      return abstract_eval_ != nullptr;
  }
  return false;
}

const std::string& TesseractDefinition::documentation(Endpoint endpoint) const {
  return documentation_[index_of(endpoint)];
}

}  // namespace tessera
