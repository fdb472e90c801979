// A Tesseract as its author states it: names, schemas, endpoints.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/result.h"
#include "tessera/tesseract/context.h"
#include "tessera/tesseract/endpoint_error.h"
#include "tessera/tesseract/path.h"
#include "tessera/tesseract/schema.h"

namespace tessera {

/// Paths of a gradient request, each once, in the order of the request (PROTOCOL.md section 4.3).
using PathSet = std::vector<std::string>;

/// The endpoints that compute (PROTOCOL.md section 4).
enum class Endpoint { kApply, kJacobian, kJacobianVectorProduct, kVectorJacobianProduct, kAbstractEval };
inline constexpr std::size_t kEndpointCount = 5;
/// Its route without the slash, e.g. "jacobian_vector_product".
[[nodiscard]] std::string_view name_of(Endpoint endpoint);
/// By its exact name; nothing for others.
[[nodiscard]] std::optional<Endpoint> find_endpoint(std::string_view name);

/// Whether a name is that of a route at the root or under a Tesseract's prefix, so that no Tesseract can have it: those
/// of PROTOCOL.md section 1, and some kept for later. Safe to call from any thread, like those above.
[[nodiscard]] bool is_route_name(std::string_view name);

/// Inputs are checked and complete: arrays of the declared dtype and shape, defaults filled in; they and `context` live
/// for the call. What is returned is checked too: what does not fit is a 500. Endpoints may throw; they are called on
/// any thread, not always the same, and from several at once if the daemon has several workers.
using ApplyFunction = std::function<Object(const Object& inputs, Context& context)>;
/// Returns output path → input path → array of the output's shape followed by the input's, of any dtype (kept). Exactly
/// the paths asked for, as in the next two.
using JacobianFunction = std::function<Object(const Object& inputs, const PathSet& jac_inputs,
                                              const PathSet& jac_outputs, Context& context)>;
/// Takes input path → tangent, with the shape of the value at its path and the dtype of the field; returns output path
/// → array, which is cast and stretched to the output's declaration.
using JvpFunction = std::function<Object(const Object& inputs, const PathSet& jvp_inputs, const PathSet& jvp_outputs,
                                         const Object& tangents, Context& context)>;
/// Takes output path → cotangent, as the output declares it; returns input path → array, which is cast and stretched to
/// the input's declaration.
using VjpFunction = std::function<Object(const Object& inputs, const PathSet& vjp_inputs, const PathSet& vjp_outputs,
                                         const Object& cotangents, Context& context)>;
/// Arrays are shapes only, in the inputs and in what is returned (PROTOCOL.md section 4.4).
using AbstractEvalFunction = std::function<Object(const Object& inputs, Context& context)>;

/// A Tesseract: built by chained calls, then constant and safe to use from any thread.
class TesseractDefinition {
 public:
  /// `name` is a path segment: letters, digits, `_`, `-`, `.`, but not "." or "..", nor the name of a route. check()
  /// looks at it, not this.
  explicit TesseractDefinition(std::string name) : name_(std::move(name)) {}

  /// What the document shows: "unknown" if not stated.
  TesseractDefinition& version(std::string version);
  /// A sentence on the whole.
  TesseractDefinition& describe(std::string description);
  /// The outermost schemas; empty ones if not stated.
  TesseractDefinition& inputs(Schema schema);
  TesseractDefinition& outputs(Schema schema);
  /// Each takes the function and one sentence that the document shows.
  TesseractDefinition& apply(ApplyFunction function, std::string documentation = "");
  TesseractDefinition& jacobian(JacobianFunction function, std::string documentation = "");
  TesseractDefinition& jacobian_vector_product(JvpFunction function, std::string documentation = "");
  TesseractDefinition& vector_jacobian_product(VjpFunction function, std::string documentation = "");
  TesseractDefinition& abstract_eval(AbstractEvalFunction function, std::string documentation = "");

  /// Says that the functions take arrays in GPU memory as they are (Array::is_on_device()). Without it, what a client
  /// sends from a GPU is copied to the host before a function sees it. Functions may return arrays in GPU memory
  /// anyway.
  TesseractDefinition& takes_device_arrays();

  /// Checks the whole: a good name, apply present, the outermost schemas named "InputSchema" and "OutputSchema"
  /// (PROTOCOL.md section 15), something differentiable on both sides if there is a gradient endpoint. Errors:
  /// kInvalidArgument, in words for the author.
  [[nodiscard]] Status check() const;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::string& description() const { return description_; }
  [[nodiscard]] const Schema& inputs() const { return inputs_; }
  [[nodiscard]] const Schema& outputs() const { return outputs_; }
  [[nodiscard]] bool does_take_device_arrays() const { return takes_device_arrays_; }
  [[nodiscard]] bool has(Endpoint endpoint) const;
  /// Empty if there is none.
  [[nodiscard]] const std::string& documentation(Endpoint endpoint) const;
  /// Each is empty where has() says no.
  [[nodiscard]] const ApplyFunction& apply() const { return apply_; }
  [[nodiscard]] const JacobianFunction& jacobian() const { return jacobian_; }
  [[nodiscard]] const JvpFunction& jacobian_vector_product() const { return jvp_; }
  [[nodiscard]] const VjpFunction& vector_jacobian_product() const { return vjp_; }
  [[nodiscard]] const AbstractEvalFunction& abstract_eval() const { return abstract_eval_; }

 private:
  std::string name_;
  std::string version_ = "unknown";
  std::string description_;
  Schema inputs_{"InputSchema"};
  Schema outputs_{"OutputSchema"};
  bool takes_device_arrays_ = false;
  std::string documentation_[kEndpointCount];
  ApplyFunction apply_;
  JacobianFunction jacobian_;
  JvpFunction jvp_;
  VjpFunction vjp_;
  AbstractEvalFunction abstract_eval_;
};

}  // namespace tessera
