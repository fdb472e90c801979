// Adds two vectors, one of them scaled: the Tesseract to read first.
//
//   tessera run vectoradd apply @examples/vectoradd/example_inputs.json

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

Schema input_schema() {
  return Schema("InputSchema")
      .field("a", array(DType::kFloat64, {kFreeAxis}).differentiable(), "The vector that is scaled.")
      .field("b", array(DType::kFloat64, {kFreeAxis}).differentiable(), "The vector that is added, as long as a.")
      .field("s", scalar(DType::kFloat64).differentiable(), "The factor that a is multiplied by.", 1.0)
      .field("normalize", boolean(), "Whether the result is divided by its Euclidean length.", false)
      .rule([](const Object& inputs) -> std::optional<std::string> {
        const std::int64_t a = inputs["a"].array().shape()[0];
        const std::int64_t b = inputs["b"].array().shape()[0];
        if (a != b) {
          return "a and b differ in length: " + std::to_string(a) + " and " + std::to_string(b);
        }
        return std::nullopt;
      });
}

Schema output_schema() {
  return Schema("OutputSchema")
      .field("result", array(DType::kFloat64, {kFreeAxis}).differentiable(),
             "s * a + b, of length one if normalize is set.");
}

double dot(std::span<const double> left, std::span<const double> right) {
  double sum = 0.0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    sum += left[i] * right[i];
  }
  return sum;
}

// Adds factor * from to `into`, element by element.
void add_scaled(std::span<double> into, double factor, std::span<const double> from) {
  for (std::size_t i = 0; i < into.size(); ++i) {
    into[i] += factor * from[i];
  }
}

// The inputs under their C++ types. The arrays are shared with `inputs`, not copied.
struct Inputs {
  explicit Inputs(const Object& inputs)
      : a(inputs["a"].array()),
        b(inputs["b"].array()),
        s(inputs["s"].array().item<double>()),
        normalize(inputs["normalize"].boolean()) {}

  [[nodiscard]] Array sum() const {
    Array sum = b;  // shares the elements of b until it is written to
    add_scaled(sum.mutable_values<double>(), s, a.values<double>());
    return sum;
  }

  Array a;
  Array b;
  double s;
  bool normalize;
};

// Takes a change of s * a + b to the change of the result: nothing to do, or, for a result of length one, the part
// along the result goes and the rest shrinks. The matrix behind it is symmetric, so it works in both directions.
void follow_normalization(const Inputs& inputs, std::span<double> change) {
  if (!inputs.normalize) {
    return;
  }
  const Array sum = inputs.sum();
  const std::span<const double> direction = sum.values<double>();
  const double length_squared = dot(direction, direction);
  const double along = dot(direction, change) / length_squared;
  for (std::size_t i = 0; i < change.size(); ++i) {
    change[i] = (change[i] - along * direction[i]) / std::sqrt(length_squared);
  }
}

Object apply(const Object& object, Context& /*context*/) {
  const Inputs inputs(object);
  Array result = inputs.sum();
  if (inputs.normalize) {
    const std::span<double> values = result.mutable_values<double>();
    const double length = std::sqrt(dot(values, values));
    for (double& value : values) {
      value /= length;
    }
  }
  return {{"result", result}};
}

// The derivative of the result by a, b or s at its input: a matrix for a vector, a column for a number.
Array derivative_by(const Inputs& inputs, const std::string& name) {
  if (name == "s") {
    Array column = inputs.a;
    follow_normalization(inputs, column.mutable_values<double>());
    return column;
  }
  const std::int64_t size = inputs.a.size();
  Array matrix = Array::zeros(DType::kFloat64, {size, size});
  const std::span<double> elements = matrix.mutable_values<double>();
  const auto width = static_cast<std::size_t>(size);
  for (std::size_t row = 0; row < width; ++row) {
    const std::span<double> change = elements.subspan(row * width, width);
    change[row] = name == "a" ? inputs.s : 1.0;
    follow_normalization(inputs, change);
  }
  return matrix;
}

Object jacobian(const Object& object, const PathSet& jac_inputs, const PathSet& jac_outputs, Context& /*context*/) {
  const Inputs inputs(object);
  Object derivatives;
  for (const std::string& output : jac_outputs) {
    Object by_input;
    for (const std::string& input : jac_inputs) {
      by_input.set(input, derivative_by(inputs, input));
    }
    derivatives.set(output, by_input);
  }
  return derivatives;
}

Object jacobian_vector_product(const Object& object, const PathSet& jvp_inputs, const PathSet& jvp_outputs,
                               const Object& tangents, Context& /*context*/) {
  const Inputs inputs(object);
  Array change = Array::zeros(DType::kFloat64, inputs.a.shape());
  const std::span<double> total = change.mutable_values<double>();
  for (const std::string& input : jvp_inputs) {
    const Array& tangent = tangents[input].array();
    if (input == "s") {
      add_scaled(total, tangent.item<double>(), inputs.a.values<double>());
    } else {
      add_scaled(total, input == "a" ? inputs.s : 1.0, tangent.values<double>());
    }
  }
  follow_normalization(inputs, total);

  Object changes;
  for (const std::string& output : jvp_outputs) {
    changes.set(output, change);
  }
  return changes;
}

Object vector_jacobian_product(const Object& object, const PathSet& vjp_inputs, const PathSet& /*vjp_outputs*/,
                               const Object& cotangents, Context& /*context*/) {
  const Inputs inputs(object);
  Array weight = cotangents["result"].array();
  follow_normalization(inputs, weight.mutable_values<double>());

  Object gradients;
  for (const std::string& input : vjp_inputs) {
    Array gradient = weight;
    if (input == "a") {
      for (double& value : gradient.mutable_values<double>()) {
        value *= inputs.s;
      }
    } else if (input == "s") {
      gradient = Array::scalar(dot(weight.values<double>(), inputs.a.values<double>()));
    }
    gradients.set(input, gradient);
  }
  return gradients;
}

Object abstract_eval(const Object& inputs, Context& /*context*/) {
  return {{"result", Array::shape_only(DType::kFloat64, inputs["a"].array().shape())}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("vectoradd")
      .version("1.0.0")
      .inputs(input_schema())
      .outputs(output_schema())
      .apply(apply, "Multiplies a by s and adds b.")
      .jacobian(jacobian, "The full derivative of result by each of jac_inputs.")
      .jacobian_vector_product(jacobian_vector_product,
                               "How result changes when each of jvp_inputs moves along its tangent.")
      .vector_jacobian_product(vector_jacobian_product, "How the cotangent of result falls back on each of vjp_inputs.")
      .abstract_eval(abstract_eval, "The shape of result, which is the shape of a.");
}
