#include "skeleton.h"

#include <string_view>

namespace tessera {
namespace {

constexpr std::string_view kSource =
    R"skeleton(// A Tesseract: multiplies a vector by a factor. Change it into what you want to serve.
//
//   tessera build @NAME@.cpp                                  makes @NAME@.so
//   tessera run ./@NAME@.so apply @example_inputs.json        calls it once
//   tessera serve ./@NAME@.so                                 serves it on http://127.0.0.1:8000

#include <string>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

// What callers send. Everything is checked before a function below sees it: names, shapes, dtypes, bounds.
// Types: array(dtype, shape), scalar(dtype), integer(), number(), boolean(), text(), choice({…}), list_of(…),
// dict_of(…), object(Schema(…)), anything(). Each can be .optional(); a field with a default need not be sent.
Schema input_schema() {
  return Schema("InputSchema")
      .field("x", array(DType::kFloat64, {kFreeAxis}).differentiable(), "The vector.")
      .field("factor", number().at_least(0.0), "What each element is multiplied by.", 2.0);
}

// What callers get. It is checked as well.
Schema output_schema() {
  return Schema("OutputSchema").field("y", array(DType::kFloat64, {kFreeAxis}).differentiable(), "factor * x");
}

// The function itself. Exceptions become the protocol's errors and never end the server.
Object apply(const Object& inputs, Context& context) {
  const double factor = inputs["factor"].number();
  Array y = inputs["x"].array();  // copies no element until it is written to
  for (double& element : y.mutable_values<double>()) {
    element *= factor;
  }
  context.log("multiplied " + std::to_string(y.size()) + " elements");  // to the log of this run
  return {{"y", y}};
}

// Optional: the gradient. `cotangents` says how much each output counts; the answer says how much each input does.
Object vector_jacobian_product(const Object& inputs, const PathSet& /*vjp_inputs*/, const PathSet& /*vjp_outputs*/,
                               const Object& cotangents, Context& /*context*/) {
  const double factor = inputs["factor"].number();
  Array by_x = cotangents["y"].array();
  for (double& element : by_x.mutable_values<double>()) {
    element *= factor;
  }
  return {{"x", by_x}};
}

// Optional: the shapes of the outputs from the shapes of the inputs, without computing. JAX needs it.
Object abstract_eval(const Object& inputs, Context& /*context*/) {
  return {{"y", Array::shape_only(DType::kFloat64, inputs["x"].array().shape())}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("@NAME@")
      .version("0.1.0")
      .describe("Multiplies a vector by a factor.")
      .inputs(input_schema())
      .outputs(output_schema())
      .apply(apply, "Multiplies x by factor.")
      .vector_jacobian_product(vector_jacobian_product, "How the cotangent of y falls back on x.")
      .abstract_eval(abstract_eval, "The shape of y, which is the shape of x.");
}
)skeleton";

constexpr std::string_view kInputs = R"({
  "inputs": {"x": [1.0, 2.0, 3.0], "factor": 10.0}
}
)";

constexpr std::string_view kReadme = R"(# @NAME@

Multiplies a vector by a factor. The Tesseract is `@NAME@.cpp`; `example_inputs.json` is a call of it.

```
tessera build @NAME@.cpp
tessera run ./@NAME@.so apply @example_inputs.json
tessera serve ./@NAME@.so
curl -H "Content-Type: application/json" -d @example_inputs.json http://127.0.0.1:8000/apply
```

Build it again, and start the server again, after each change of the C++ file.
)";

std::string with_name(std::string_view text, const std::string& name) {
  constexpr std::string_view kPlace = "@NAME@";
  std::string filled;
  for (std::size_t place = text.find(kPlace); place != std::string_view::npos; place = text.find(kPlace)) {
    filled += text.substr(0, place);
    filled += name;
    text.remove_prefix(place + kPlace.size());
  }
  return filled += text;
}

}  // namespace

std::string skeleton_source(const std::string& name) {
  return with_name(kSource, name);
}

std::string skeleton_inputs() {
  return std::string(kInputs);
}

std::string skeleton_readme(const std::string& name) {
  return with_name(kReadme, name);
}

}  // namespace tessera
