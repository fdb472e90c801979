// Fails, waits and talks on demand, to see what a server does about it.
//
//   tessera run failing apply @examples/failing/example_inputs.json

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <iostream>
#include <string>
#include <thread>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

Schema input_schema() {
  return Schema("InputSchema")
      .field_with_hidden_default("x", array(DType::kFloat64, {kFreeAxis}).differentiable(),
                                 "An array that is doubled when nothing goes wrong.", Array::of({0.0}))
      .field("y", scalar(DType::kFloat64).differentiable(), "A number that is added to each element.", 0.0)
      .field("fail",
             choice({"no", "value_error", "type_error", "key_error", "runtime_error", "assertion", "missing_output",
                     "wrong_rank", "wrong_dtype", "extra_output", "missing_gradient", "extra_gradient"}),
             "What goes wrong, and how.", "no")
      .field("message", text(), "The text of the error.", "boom")
      .field("sleep_s", number().at_least(0.0).at_most(60.0), "Seconds to wait, once the lines are written.", 0.0)
      .field_with_hidden_default("log", list_of(text()), "Lines to write to standard output.", List{})
      .field_with_hidden_default("log_error", list_of(text()), "Lines to write to standard error.", List{});
}

Schema output_schema() {
  return Schema("OutputSchema")
      .field("result", array(DType::kFloat64, {kFreeAxis}).differentiable(), "2 * x + y")
      .field("pid", integer(), "The process that did the work.")
      .field("started_s", number(), "When the call began, on a monotonic clock.")
      .field("ended_s", number(), "When the call ended, on the same clock.");
}

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Writes, waits and throws as asked; returns the time at which it began. A function that prints as this one does is
// heard with one worker; context.log() is heard with any number of them.
double go_wrong(const Object& inputs) {
  const double started_s = now_s();
  for (const Value& line : inputs["log"].list()) {
    std::cout << line.text() << std::endl;  // NOLINT(performance-avoid-endl): who follows the log sees it at once
  }
  for (const Value& line : inputs["log_error"].list()) {
    std::cerr << line.text() << std::endl;  // NOLINT(performance-avoid-endl)
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(inputs["sleep_s"].number()));

  const std::string& fail = inputs["fail"].text();
  const std::string& message = inputs["message"].text();
  // Errors have Python's names. Standard exceptions are translated (std::invalid_argument is a ValueError), and an
  // EndpointError states its name.
  if (fail == "value_error") {
    throw std::invalid_argument(message);
  }
  if (fail == "runtime_error") {
    throw std::runtime_error(message);
  }
  if (fail == "type_error") {
    throw EndpointError("TypeError", message);
  }
  if (fail == "key_error") {
    throw EndpointError("KeyError", message);
  }
  if (fail == "assertion") {
    throw EndpointError("AssertionError", message);
  }
  return started_s;
}

Object apply(const Object& inputs, Context& /*context*/) {
  const double started_s = go_wrong(inputs);
  Array result = inputs["x"].array();
  for (double& value : result.mutable_values<double>()) {
    value = 2.0 * value + inputs["y"].array().item<double>();
  }
  Object outputs{{"result", result}, {"pid", ::getpid()}, {"started_s", started_s}, {"ended_s", now_s()}};

  const std::string& fail = inputs["fail"].text();
  if (fail == "missing_output") {
    outputs.remove("result");
  } else if (fail == "wrong_rank") {
    outputs.set("result", result.reshaped({1, result.size()}));
  } else if (fail == "wrong_dtype") {
    outputs.set("result", Array::zeros(DType::kComplex128, result.shape()));
  } else if (fail == "extra_output") {
    outputs.set("surprise", 1);
  }
  return outputs;
}

Object vector_jacobian_product(const Object& inputs, const PathSet& vjp_inputs, const PathSet& /*vjp_outputs*/,
                               const Object& cotangents, Context& /*context*/) {
  go_wrong(inputs);
  Array by_x = cotangents["result"].array();
  double by_y = 0.0;
  for (double& weight : by_x.mutable_values<double>()) {
    by_y += weight;
    weight *= 2.0;
  }
  Object gradient{{"x", by_x}, {"y", Array::scalar(by_y)}};

  const std::string& fail = inputs["fail"].text();
  if (fail == "extra_gradient") {
    return gradient;
  }
  if (fail == "missing_gradient") {
    const std::string& first = std::ranges::min(vjp_inputs);
    return {{first, gradient[first]}};
  }
  Object asked_for;
  for (const std::string& input : vjp_inputs) {
    asked_for.set(input, gradient[input]);
  }
  return asked_for;
}

Object abstract_eval(const Object& inputs, Context& /*context*/) {
  go_wrong(inputs);
  return {{"result", Array::shape_only(DType::kFloat64, inputs["x"].array().shape())},
          {"pid", ::getpid()},
          {"started_s", 0.0},
          {"ended_s", 0.0}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("failing")
      .version("1.0.0")
      .inputs(input_schema())
      .outputs(output_schema())
      .apply(apply, "Doubles x and adds y, unless told to fail.")
      .vector_jacobian_product(vector_jacobian_product,
                               "The gradient, unless told to fail, with a key missing or too many on demand.")
      .abstract_eval(abstract_eval, "The shapes of the outputs; the wait, the log and the failures happen here too.");
}
