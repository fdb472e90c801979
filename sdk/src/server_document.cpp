#include "server_document.h"

#include <algorithm>
#include <optional>

#include "response_value.h"
#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

[[noreturn]] void throw_bad_document(const std::string& why) {
  throw ClientError(ClientError::Kind::kBadResponse,
                    "the OpenAPI document of the server is not that of a Tesseract: " + why);
}

// The member of an object; nullptr if it is none, or has none.
const Value* member_of(const Value* value, std::string_view key) {
  return value != nullptr && value->kind() == Value::Kind::kObject ? value->object().find(key) : nullptr;
}

ServerCapabilities::Names names_in(const Value& document, std::string_view key) {
  const Value* const list = member_of(&document, key);
  if (list == nullptr || list->is_null()) {
    return std::nullopt;
  }
  if (list->kind() != Value::Kind::kList) {
    throw_bad_document(std::string(key) + " is not a list");
  }
  std::vector<std::string> names;
  for (const Value& name : list->list()) {
    if (name.kind() == Value::Kind::kText) {
      names.push_back(name.text());
    }
  }
  return names;
}

// The schema that a component's name, or a reference in one, leads to.
const Value& schema_of(const Value& document, std::string_view name) {
  const Value* const schemas = member_of(member_of(&document, "components"), "schemas");
  const Value* schema = member_of(schemas, name);
  // `ApplyOutputSchema` refers to the model; a chain that is longer than this is a ring.
  for (int hops = 0; hops != 8 && schema != nullptr; ++hops) {
    const Value* const reference = member_of(schema, "$ref");
    if (reference == nullptr || reference->kind() != Value::Kind::kText) {
      return *schema;
    }
    const std::string& path = reference->text();
    schema = member_of(schemas, std::string_view(path).substr(path.rfind('/') + 1));
  }
  throw_bad_document("it has no schema " + std::string(name));
}

}  // namespace

ServerDocument::ServerDocument(std::string_view text) : document_(read_plain_value(text)) {
  const Value* const paths = member_of(&document_, "paths");
  if (paths == nullptr || paths->kind() != Value::Kind::kObject) {
    throw_bad_document("it has no paths");
  }
  for (const Object::Member& path : paths->object().members()) {
    std::string_view name = path.key;
    while (name.starts_with('/')) {
      name.remove_prefix(1);
    }
    endpoints_.emplace_back(name);
  }
  capabilities_.output_formats = names_in(document_, "x-supported-output-formats");
  capabilities_.gpu_transports = names_in(document_, "x-supported-gpu-transports");
  capabilities_.compressions = names_in(document_, "x-supported-compressions");
}

bool ServerDocument::has_endpoint(std::string_view name) const {
  return std::ranges::find(endpoints_, name) != endpoints_.end();
}

const Value& ServerDocument::input_schema() const {
  const Value& body = schema_of(document_, "ApplyInputSchema");
  const Value* const inputs = member_of(member_of(&body, "properties"), "inputs");
  const Value* const reference = member_of(inputs, "$ref");
  if (reference == nullptr || reference->kind() != Value::Kind::kText) {
    throw_bad_document("ApplyInputSchema names no inputs");
  }
  const std::string& path = reference->text();
  return schema_of(document_, std::string_view(path).substr(path.rfind('/') + 1));
}

const Value& ServerDocument::output_schema() const {
  return schema_of(document_, "ApplyOutputSchema");
}

}  // namespace tessera
