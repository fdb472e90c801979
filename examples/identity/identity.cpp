// Hands one array back unchanged: what is left to time is the transport.
//
//   tessera run identity apply @examples/identity/example_inputs.json

#include <string>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

Schema input_schema() {
  return Schema("InputSchema").field("x", array(DType::kFloat32).differentiable(), "Any array of any rank.");
}

Schema output_schema() {
  return Schema("OutputSchema").field("x", array(DType::kFloat32).differentiable(), "The same array.");
}

// Copying a Value copies no element: both share the array's buffer.
Object apply(const Object& inputs, Context& /*context*/) {
  return {{"x", inputs["x"]}};
}

Object jacobian(const Object& inputs, const PathSet& /*jac_inputs*/, const PathSet& /*jac_outputs*/,
                Context& /*context*/) {
  const Array& x = inputs["x"].array();
  Shape shape = x.shape();
  shape.insert(shape.end(), x.shape().begin(), x.shape().end());
  Array ones = Array::zeros(DType::kFloat32, shape);
  const auto size = static_cast<std::size_t>(x.size());
  for (std::size_t i = 0; i < size; ++i) {
    ones.mutable_values<float>()[i * size + i] = 1.0F;
  }
  return {{"x", Object{{"x", ones}}}};
}

Object jacobian_vector_product(const Object& /*inputs*/, const PathSet& /*jvp_inputs*/, const PathSet& /*jvp_outputs*/,
                               const Object& tangents, Context& /*context*/) {
  return {{"x", tangents["x"]}};
}

Object vector_jacobian_product(const Object& /*inputs*/, const PathSet& /*vjp_inputs*/, const PathSet& /*vjp_outputs*/,
                               const Object& cotangents, Context& /*context*/) {
  return {{"x", cotangents["x"]}};
}

Object abstract_eval(const Object& inputs, Context& /*context*/) {
  return {{"x", inputs["x"]}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("identity")
      .version("1.0.0")
      .inputs(input_schema())
      .outputs(output_schema())
      .takes_device_arrays()
      .apply(apply, "Returns x.")
      .jacobian(jacobian, "Ones where an output element is its own input element.")
      .jacobian_vector_product(jacobian_vector_product, "Returns the tangent.")
      .vector_jacobian_product(vector_jacobian_product, "Returns the cotangent.")
      .abstract_eval(abstract_eval, "Returns the shape and dtype of x.");
}
