// Calls the author's function and checks what it returns (PROTOCOL.md sections 4 and 7.1).

#include <optional>
#include <utility>

#include "conform.h"
#include "device_work.h"
#include "gradient_result.h"
#include "shape_check.h"
#include "tessera/tesseract/call.h"

namespace tessera {
namespace {

Object call_function(const TesseractDefinition& definition, const Call& call, Context& context) {
  switch (call.endpoint) {
    case Endpoint::kApply:
      return definition.apply()(call.inputs, context);
    case Endpoint::kJacobian:
      return definition.jacobian()(call.inputs, call.input_paths, call.output_paths, context);
    case Endpoint::kJacobianVectorProduct:
      return definition.jacobian_vector_product()(call.inputs, call.input_paths, call.output_paths, call.vector,
                                                  context);
    case Endpoint::kVectorJacobianProduct:
      return definition.vector_jacobian_product()(call.inputs, call.input_paths, call.output_paths, call.vector,
                                                  context);
    case Endpoint::kAbstractEval:
      break;
  }
  return definition.abstract_eval()(call.inputs, context);
}

std::optional<Misfit> conform_output(Object& output, const TesseractDefinition& definition, const Call& call) {
  switch (call.endpoint) {
    case Endpoint::kApply:
      return conform(output, definition.outputs(), ArrayForm::kValues);
    case Endpoint::kAbstractEval:
      return conform(output, definition.outputs(), ArrayForm::kShapes);
    default:
      return conform_gradient(output, definition, call);
  }
}

Object complete_shapes(Object output, const Schema& schema) {
  Value all(with_defaults(std::move(output), schema));
  drop_elements(all);
  return std::move(all.object());
}

}  // namespace

std::variant<Object, EndpointFailure> run_call(const TesseractDefinition& definition, const Call& call,
                                               Context& context, bool with_all_fields) {
  try {
    Object output = call_function(definition, call, context);
    // Work that a stream still has to do may read the inputs, whose memory others get once the call is over.
    if (const Status done = wait_for_result(output); !done) {
      return EndpointFailure{"RuntimeError", done.error().message(), std::nullopt};
    }
    if (const auto misfit = conform_output(output, definition, call)) {
      EndpointFailure failure;
      failure.kind = "ValidationError";
      failure.text =
          "the output of " + std::string(name_of(call.endpoint)) + " does not fit its schema: " + misfit->text();
      failure.is_output_fault = true;
      return failure;
    }
    if (with_all_fields && call.endpoint == Endpoint::kAbstractEval) {
      return complete_shapes(std::move(output), definition.outputs());
    }
    return output;
  } catch (...) {
    EndpointFailure failure = current_failure();
    wait_after_failure(call);
    return failure;
  }
}

}  // namespace tessera
