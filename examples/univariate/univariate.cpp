// A function of two numbers with a narrow curved valley (Rosenbrock's), for optimisers.
//
//   tessera run univariate apply @examples/univariate/example_inputs.json

#include <string>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

Schema input_schema() {
  return Schema("InputSchema")
      .field("x", scalar(DType::kFloat64).differentiable(), "The first coordinate.", 0.0)
      .field("y", scalar(DType::kFloat64).differentiable(), "The second coordinate.", 0.0)
      .field("a", number(), "Where the valley bottoms out along x.", 1.0)
      .field("b", number().at_least(0.0), "How steep the walls of the valley are.", 100.0);
}

Schema output_schema() {
  return Schema("OutputSchema")
      .field("result", scalar(DType::kFloat64).differentiable(), "(a - x)^2 + b * (y - x^2)^2");
}

// The function and its partial derivatives at one point.
struct Valley {
  explicit Valley(const Object& inputs)
      : x(inputs["x"].array().item<double>()),
        y(inputs["y"].array().item<double>()),
        a(inputs["a"].number()),
        b(inputs["b"].number()) {}

  [[nodiscard]] double value() const { return (a - x) * (a - x) + b * (y - x * x) * (y - x * x); }

  [[nodiscard]] double derivative_by(const std::string& name) const {
    if (name == "x") {
      return -2.0 * (a - x) - 4.0 * b * x * (y - x * x);
    }
    return 2.0 * b * (y - x * x);
  }

  double x, y, a, b;
};

Object apply(const Object& inputs, Context& /*context*/) {
  return {{"result", Array::scalar(Valley(inputs).value())}};
}

Object jacobian(const Object& inputs, const PathSet& jac_inputs, const PathSet& jac_outputs, Context& /*context*/) {
  const Valley valley(inputs);
  Object derivatives;
  for (const std::string& output : jac_outputs) {
    Object by_input;
    for (const std::string& input : jac_inputs) {
      by_input.set(input, Array::scalar(valley.derivative_by(input)));
    }
    derivatives.set(output, by_input);
  }
  return derivatives;
}

Object jacobian_vector_product(const Object& inputs, const PathSet& jvp_inputs, const PathSet& jvp_outputs,
                               const Object& tangents, Context& /*context*/) {
  const Valley valley(inputs);
  double slope = 0.0;
  for (const std::string& input : jvp_inputs) {
    slope += valley.derivative_by(input) * tangents[input].array().item<double>();
  }
  Object changes;
  for (const std::string& output : jvp_outputs) {
    changes.set(output, Array::scalar(slope));
  }
  return changes;
}

Object vector_jacobian_product(const Object& inputs, const PathSet& vjp_inputs, const PathSet& vjp_outputs,
                               const Object& cotangents, Context& /*context*/) {
  const Valley valley(inputs);
  double weight = 0.0;
  for (const std::string& output : vjp_outputs) {
    weight += cotangents[output].array().item<double>();
  }
  Object gradients;
  for (const std::string& input : vjp_inputs) {
    gradients.set(input, Array::scalar(valley.derivative_by(input) * weight));
  }
  return gradients;
}

Object abstract_eval(const Object& /*inputs*/, Context& /*context*/) {
  return {{"result", Array::shape_only(DType::kFloat64, {})}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("univariate")
      .version("1.0.0")
      .inputs(input_schema())
      .outputs(output_schema())
      .apply(apply, "The value of the function at (x, y).")
      .jacobian(jacobian, "The partial derivatives at (x, y).")
      .jacobian_vector_product(jacobian_vector_product, "The derivative along the given direction.")
      .vector_jacobian_product(vector_jacobian_product, "The partial derivatives, weighted by the cotangent of result.")
      .abstract_eval(abstract_eval, "The result is a number whatever the inputs are.");
}
