// The Tesseract of the golden vectors, in C++: tests/vectors/tesseracts/mixer/tesseract_api.py, one for one.

#include <algorithm>
#include <iostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

Type vector_of(DType dtype) {
  return array(dtype, {kFreeAxis});
}

Type grid() {
  return array(DType::kFloat32, {2, 3}).optional();
}

Type named() {
  return dict_of(vector_of(DType::kFloat64).differentiable());
}

Type layers() {
  return list_of(object(Schema("Layer")
                            .field("weights", array(DType::kFloat32, {kFreeAxis, 3}).differentiable())
                            .field("tag", text(), "", "dense")));
}

Schema input_schema() {
  return Schema("InputSchema")
      .field("x", vector_of(DType::kFloat64).differentiable(), "Samples.")
      .field("gain", scalar(DType::kFloat64).differentiable(), "Factor.", 1.0)
      .field("grid", grid(), "", nullptr)
      .field("counts", vector_of(DType::kInt16).optional(), "", nullptr)
      .field("ident", scalar(DType::kUInt32), "", 7)
      .field("flag", scalar(DType::kBool), "", false)
      .field("wave", vector_of(DType::kComplex64).optional(), "", nullptr)
      .field("anything", array_of_any_dtype().optional(), "", nullptr)
      .field("named", named(), "", Object{})
      .field("layers", layers(), "", List{})
      .field("steps", integer().at_least(0).at_most(100), "", 1)
      .field("label", text(), "", "none")
      .field("mode", choice({"ok", "raise", "bad_output", "partial"}), "", "ok");
}

Schema output_schema() {
  return Schema("OutputSchema")
      .field("y", vector_of(DType::kFloat64).differentiable())
      .field("grid", grid(), "", nullptr)
      .field("counts", vector_of(DType::kInt16).optional(), "", nullptr)
      .field("ident", scalar(DType::kUInt32).optional(), "", nullptr)
      .field("flag", scalar(DType::kBool).optional(), "", nullptr)
      .field("wave", vector_of(DType::kComplex64).optional(), "", nullptr)
      .field("anything", array_of_any_dtype().optional(), "", nullptr)
      .field("named", named(), "", Object{})
      .field("layers", layers(), "", List{})
      .field("steps", integer(), "", 0)
      .field("label", text(), "", "")
      .field("total", number().optional(), "", nullptr);
}

Array scaled(const Array& array, double factor) {
  Array result = array;
  for (double& value : result.mutable_values<double>()) {
    value *= factor;
  }
  return result;
}

double gain_of(const Object& inputs) {
  return inputs["gain"].array().item<double>();
}

Array y_of(const Object& inputs) {
  return scaled(inputs["x"].array(), gain_of(inputs));
}

Object apply(const Object& inputs, Context& /*context*/) {
  std::cout << "mixing " << inputs["label"].text() << '\n';
  const std::string& mode = inputs["mode"].text();
  if (mode == "raise") {
    throw EndpointError("ValueError", "the mixer broke");
  }
  const Array y = y_of(inputs);
  if (mode == "bad_output") {
    return {{"y", y.reshaped({1, y.size()})}};
  }
  if (mode == "partial") {
    const Object layer{{"weights", Array::zeros(DType::kFloat32, {1, 3})}};
    return {{"y", y}, {"grid", nullptr}, {"layers", List{layer}}};
  }

  Object doubled;
  for (const Object::Member& member : inputs["named"].object().members()) {
    doubled.set(member.key, scaled(member.value.array(), 2.0));
  }
  double total = 0.0;
  for (const double value : y.values<double>()) {
    total += value;
  }
  return {{"y", y},
          {"grid", inputs["grid"]},
          {"counts", inputs["counts"]},
          {"ident", inputs["ident"]},
          {"flag", inputs["flag"]},
          {"wave", inputs["wave"]},
          {"anything", inputs["anything"]},
          {"named", doubled},
          {"layers", inputs["layers"]},
          {"steps", inputs["steps"]},
          {"label", inputs["label"]},
          {"total", total}};
}

Object abstract_eval(const Object& inputs, Context& /*context*/) {
  Object outputs{{"y", Array::shape_only(DType::kFloat64, inputs["x"].array().shape())}, {"named", inputs["named"]}};
  for (const char* name : {"grid", "counts", "anything"}) {
    if (!inputs[name].is_null()) {
      outputs.set(name, inputs[name]);
    }
  }
  return outputs;
}

// The value of an output, or of an input, as a path names it.
Array value_at(const Object& inputs, const std::string& path) {
  return path == "y" ? y_of(inputs) : array_at(inputs, path);
}

// The derivative of one value by another as a float64 matrix, outputs along rows, flattened.
class Derivative {
 public:
  Derivative(const Object& inputs, const std::string& output, const std::string& input)
      : shape_(value_at(inputs, output).shape()), width_(static_cast<std::size_t>(value_at(inputs, input).size())) {
    const Array columns = value_at(inputs, input);
    shape_.insert(shape_.end(), columns.shape().begin(), columns.shape().end());
    matrix_ = Array::zeros(DType::kFloat64, shape_);
    const std::span<double> elements = matrix_.mutable_values<double>();
    if (output == "y" && input == "gain") {
      std::ranges::copy(inputs["x"].array().values<double>(), elements.begin());
    } else if (output == "y" && input == "x") {
      put_on_diagonal(elements, gain_of(inputs));
    } else if (output == input) {
      put_on_diagonal(elements, output.starts_with("named.") ? 2.0 : 1.0);
    }
  }

  [[nodiscard]] const Array& array() const { return matrix_; }

  // Adds matrix * vector, along the inputs.
  void add_product(std::span<double> into, std::span<const double> vector) const {
    const std::span<const double> elements = matrix_.values<double>();
    for (std::size_t row = 0; row < into.size(); ++row) {
      for (std::size_t column = 0; column < width_; ++column) {
        into[row] += elements[row * width_ + column] * vector[column];
      }
    }
  }

  // Adds vector * matrix, along the outputs.
  void add_product_from_left(std::span<double> into, std::span<const double> vector) const {
    const std::span<const double> elements = matrix_.values<double>();
    for (std::size_t row = 0; row < vector.size(); ++row) {
      for (std::size_t column = 0; column < width_; ++column) {
        into[column] += vector[row] * elements[row * width_ + column];
      }
    }
  }

 private:
  void put_on_diagonal(std::span<double> elements, double value) const {
    for (std::size_t i = 0; i < width_; ++i) {
      elements[i * width_ + i] = value;
    }
  }

  Shape shape_;
  std::size_t width_;
  Array matrix_;
};

// Tangents and cotangents of the layers are float32, all others float64.
std::vector<double> as_doubles(const Array& array) {
  if (array.dtype() == DType::kFloat32) {
    const std::span<const float> values = array.values<float>();
    return {values.begin(), values.end()};
  }
  const std::span<const double> values = array.values<double>();
  return {values.begin(), values.end()};
}

PathSet sorted(PathSet paths) {
  std::ranges::sort(paths);
  return paths;
}

Object jacobian(const Object& inputs, const PathSet& jac_inputs, const PathSet& jac_outputs, Context& /*context*/) {
  Object result;
  for (const std::string& output : sorted(jac_outputs)) {
    Object by_input;
    for (const std::string& input : sorted(jac_inputs)) {
      by_input.set(input, Derivative(inputs, output, input).array());
    }
    result.set(output, by_input);
  }
  return result;
}

Object jacobian_vector_product(const Object& inputs, const PathSet& jvp_inputs, const PathSet& jvp_outputs,
                               const Object& tangents, Context& /*context*/) {
  Object result;
  for (const std::string& output : sorted(jvp_outputs)) {
    Array total = Array::zeros(DType::kFloat64, value_at(inputs, output).shape());
    for (const std::string& input : sorted(jvp_inputs)) {
      Derivative(inputs, output, input)
          .add_product(total.mutable_values<double>(), as_doubles(tangents[input].array()));
    }
    result.set(output, total);
  }
  return result;
}

Object vector_jacobian_product(const Object& inputs, const PathSet& vjp_inputs, const PathSet& vjp_outputs,
                               const Object& cotangents, Context& /*context*/) {
  Object result;
  for (const std::string& input : sorted(vjp_inputs)) {
    Array total = Array::zeros(DType::kFloat64, value_at(inputs, input).shape());
    for (const std::string& output : sorted(vjp_outputs)) {
      Derivative(inputs, output, input)
          .add_product_from_left(total.mutable_values<double>(), as_doubles(cotangents[output].array()));
    }
    result.set(input, total);
  }
  return result;
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("mixer")
      .inputs(input_schema())
      .outputs(output_schema())
      .apply(apply, "Scale the samples.")
      .jacobian(jacobian, "Full derivatives.")
      .jacobian_vector_product(jacobian_vector_product, "Derivatives along a tangent.")
      .vector_jacobian_product(vector_jacobian_product, "Derivatives pulled back from a cotangent.")
      .abstract_eval(abstract_eval, "Shapes and dtypes of the outputs.");
}
