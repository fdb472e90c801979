// A Tesseract that somebody serves, to be called: the names of the Python SDK's class (PROTOCOL.md section 10).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/array/value.h"
#include "tessera/sdk/cancellation.h"
#include "tessera/sdk/client_error.h"
#include "tessera/sdk/client_options.h"

namespace tessera {

/// Of one call. A plain value.
struct CallOptions {
  std::optional<std::string> run_id;         ///< the server keeps the run's files under this name
  std::optional<Cancellation> cancellation;  ///< ends the call from elsewhere
};

/// A client of one served Tesseract. Copies, and the views that with_encoding() makes, share connections and what is
/// known of the server. Every member may be called from any thread, by several at once; each call uses a connection of
/// its own while it lasts, and leaves it for the next.
///
/// Every member throws ClientError; what the server has not begun to answer is not sent twice.
class Tesseract {
 public:
  /// `url`: `http://host:port`, with a path if the Tesseract is served under one, `host:port`, or
  /// `unix:/path/of.sock` with `:/path` behind it if there is one. `user:password@` becomes basic authorisation. Sends
  /// nothing yet. Throws kInvalidArgument.
  [[nodiscard]] static Tesseract from_url(std::string_view url, ClientOptions options = {});

  /// Runs the function. The result holds an Array wherever the answer has one, in host memory or on a GPU.
  [[nodiscard]] Value apply(const Object& inputs, const CallOptions& call = {}) const;
  /// The derivatives of outputs by inputs, all of them: result[output][input]. Throws kNotImplemented, like the next
  /// two, if the Tesseract does not offer it.
  [[nodiscard]] Value jacobian(const Object& inputs, const std::vector<std::string>& jac_inputs,
                               const std::vector<std::string>& jac_outputs, const CallOptions& call = {}) const;
  /// The derivative in the direction of `tangent_vector`, which has an array for each of `jvp_inputs`: result[output].
  [[nodiscard]] Value jacobian_vector_product(const Object& inputs, const std::vector<std::string>& jvp_inputs,
                                              const std::vector<std::string>& jvp_outputs, const Object& tangent_vector,
                                              const CallOptions& call = {}) const;
  /// The gradient of `cotangent_vector`, which has an array for each of `vjp_outputs`, times the outputs:
  /// result[input].
  [[nodiscard]] Value vector_jacobian_product(const Object& inputs, const std::vector<std::string>& vjp_inputs,
                                              const std::vector<std::string>& vjp_outputs,
                                              const Object& cotangent_vector, const CallOptions& call = {}) const;
  /// The shapes and dtypes of the outputs for those of the inputs. Arrays are objects `{"shape": …, "dtype": …}` both
  /// ways; Array::shape_only() is written so, too.
  [[nodiscard]] Value abstract_eval(const Object& abstract_inputs, const CallOptions& call = {}) const;
  /// Has the server run a test specification (PROTOCOL.md section 4.5). Throws kTestFailed if the outputs are others
  /// than expected, kNotImplemented if the server is not in debug mode.
  void test(const Object& test_spec, const CallOptions& call = {}) const;
  /// {"status": "ok"}.
  [[nodiscard]] Value health(const CallOptions& call = {}) const;

  /// For tools: sends the text of a body as it is to a route ("apply", "test", …), and gives the text of the answer as
  /// it is, arrays in the format of current_encoding(). Without a body it is a GET ("health", "openapi.json").
  [[nodiscard]] std::string call_text(std::string_view endpoint, std::optional<std::string_view> body,
                                      const CallOptions& call = {}) const;

  /// The names of the routes in the OpenAPI document: "apply", "health", …
  [[nodiscard]] std::vector<std::string> available_endpoints() const;
  /// The OpenAPI document; fetched once, like what the next three are read from.
  [[nodiscard]] const Value& openapi_schema() const;
  /// The JSON schema of the inputs of apply(), and of its outputs, whose references lead into openapi_schema().
  [[nodiscard]] const Value& input_schema() const;
  [[nodiscard]] const Value& output_schema() const;
  [[nodiscard]] const ServerCapabilities& server_capabilities() const;

  /// A view whose calls ask for this encoding; fields without a value stay as they are here. Throws kInvalidArgument if
  /// the server does not accept a value, before anything is computed.
  [[nodiscard]] Tesseract with_encoding(const RequestedEncoding& requested) const;
  [[nodiscard]] const RequestedEncoding& current_encoding() const { return encoding_; }
  /// The GPU transport to use: the one that current_encoding() asks for, once it has shown to work (throws kGpu
  /// otherwise), else the first that the server offers and that works from here, else "none", with a warning that says
  /// why, given once. Tried with a small array both ways, once per client (PROTOCOL.md section 8.3).
  [[nodiscard]] std::string resolve_gpu_transport() const;

  /// The address as text, without credentials.
  [[nodiscard]] const std::string& url() const;
  /// Tells the server which of its GPU arrays are no longer needed, and closes idle connections; for all views. Does
  /// not throw. The client may still be used. Happens by itself when the last view goes, and when the program ends.
  void close() const noexcept;

 private:
  friend struct TesseractAccess;
  struct Client;
  Tesseract(std::shared_ptr<Client> client, RequestedEncoding encoding);

  std::shared_ptr<Client> client_;
  RequestedEncoding encoding_;
};

}  // namespace tessera
