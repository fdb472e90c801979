#include "tessera/sdk/tesseract.h"

#include <utility>

#include "client.h"
#include "encoding_request.h"
#include "server_address.h"

namespace tessera {
namespace {

Value list_of(const std::vector<std::string>& names) {
  List list;
  for (const std::string& name : names) {
    list.emplace_back(name);
  }
  return list;
}

void need_endpoint(const ServerDocument& document, std::string_view name, const char* text) {
  if (!document.has_endpoint(name)) {
    throw ClientError(ClientError::Kind::kNotImplemented, text);
  }
}

}  // namespace

Tesseract::Tesseract(std::shared_ptr<Client> client, RequestedEncoding encoding)
    : client_(std::move(client)), encoding_(std::move(encoding)) {}

Tesseract Tesseract::from_url(std::string_view url, ClientOptions options) {
  return {std::make_shared<Client>(ServerAddress::parse(url), std::move(options)), RequestedEncoding()};
}

Value Tesseract::apply(const Object& inputs, const CallOptions& call) const {
  return client_->compute("apply", {{"inputs", inputs}}, encoding_, call);
}

Value Tesseract::jacobian(const Object& inputs, const std::vector<std::string>& jac_inputs,
                          const std::vector<std::string>& jac_outputs, const CallOptions& call) const {
  need_endpoint(client_->document(call), "jacobian", "Jacobian not implemented for this Tesseract.");
  return client_->compute(
      "jacobian", {{"inputs", inputs}, {"jac_inputs", list_of(jac_inputs)}, {"jac_outputs", list_of(jac_outputs)}},
      encoding_, call);
}

Value Tesseract::jacobian_vector_product(const Object& inputs, const std::vector<std::string>& jvp_inputs,
                                         const std::vector<std::string>& jvp_outputs, const Object& tangent_vector,
                                         const CallOptions& call) const {
  need_endpoint(client_->document(call), "jacobian_vector_product",
                "Jacobian Vector Product (JVP) not implemented for this Tesseract.");
  return client_->compute("jacobian_vector_product",
                          {{"inputs", inputs},
                           {"jvp_inputs", list_of(jvp_inputs)},
                           {"jvp_outputs", list_of(jvp_outputs)},
                           {"tangent_vector", tangent_vector}},
                          encoding_, call);
}

Value Tesseract::vector_jacobian_product(const Object& inputs, const std::vector<std::string>& vjp_inputs,
                                         const std::vector<std::string>& vjp_outputs, const Object& cotangent_vector,
                                         const CallOptions& call) const {
  need_endpoint(client_->document(call), "vector_jacobian_product",
                "Vector Jacobian Product (VJP) not implemented for this Tesseract.");
  return client_->compute("vector_jacobian_product",
                          {{"inputs", inputs},
                           {"vjp_inputs", list_of(vjp_inputs)},
                           {"vjp_outputs", list_of(vjp_outputs)},
                           {"cotangent_vector", cotangent_vector}},
                          encoding_, call);
}

Value Tesseract::abstract_eval(const Object& abstract_inputs, const CallOptions& call) const {
  const Object payload = {{"inputs", abstract_inputs}};
  return client_->call_plain("abstract_eval", &payload, call);
}

void Tesseract::test(const Object& test_spec, const CallOptions& call) const {
  need_endpoint(client_->document(call), "test",
                "Test endpoint not available, to expose this Tesseracts must be served in debug mode.");
  const Value result = client_->call_plain("test", &test_spec, call);
  const Value* const status = result.kind() == Value::Kind::kObject ? result.object().find("status") : nullptr;
  const Value* const message = status != nullptr ? result.object().find("message") : nullptr;
  const std::string text =
      message != nullptr && message->kind() == Value::Kind::kText ? message->text() : "the server gives no reason";
  if (status == nullptr || status->kind() != Value::Kind::kText) {
    throw ClientError(ClientError::Kind::kBadResponse, "the answer of the test has no status");
  }
  if (status->text() == "failed") {
    throw ClientError(ClientError::Kind::kTestFailed, text);
  }
  if (status->text() == "error") {
    throw ClientError(ClientError::Kind::kStatus, text);
  }
}

Value Tesseract::health(const CallOptions& call) const {
  return client_->call_plain("health", nullptr, call);
}

std::string Tesseract::call_text(std::string_view endpoint, std::optional<std::string_view> body,
                                 const CallOptions& call) const {
  return client_->call_text(endpoint, body, encoding_, call);
}

std::vector<std::string> Tesseract::available_endpoints() const {
  return client_->document().endpoints();
}

const Value& Tesseract::openapi_schema() const {
  return client_->document().document();
}

const Value& Tesseract::input_schema() const {
  return client_->document().input_schema();
}

const Value& Tesseract::output_schema() const {
  return client_->document().output_schema();
}

const ServerCapabilities& Tesseract::server_capabilities() const {
  return client_->document().capabilities();
}

Tesseract Tesseract::with_encoding(const RequestedEncoding& requested) const {
  client_->check_encoding(requested);
  return {client_, merged(encoding_, requested)};
}

std::string Tesseract::resolve_gpu_transport() const {
  return client_->resolve_gpu_transport(encoding_);
}

const std::string& Tesseract::url() const {
  return client_->url();
}

void Tesseract::close() const noexcept {
  client_->close();
}

}  // namespace tessera
