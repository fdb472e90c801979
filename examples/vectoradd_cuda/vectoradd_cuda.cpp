// Adds two vectors on a GPU, one of them scaled: vectoradd with kernels of its own. Read vectoradd.cpp first.
//
//   tessera serve vectoradd_cuda
//
// Inputs come from the host or, from clients that speak a GPU transport, as they lie on the GPU. The result stays
// there; what a client cannot take in GPU memory is copied to the host for it.

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "tessera/tesseract/tesseract.h"
#include "vector_kernels.h"

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

// A number that may lie on a GPU, too.
double number_of(const Array& scalar) {
  const Result<Array> host = scalar.to_host();
  if (!host) {
    throw std::runtime_error(host.error().message());
  }
  return host->item<double>();
}

// Where to compute: where a vector is, else on the first GPU.
std::shared_ptr<const Gpu> choose_gpu(const GpuSystem& gpus, const Object& inputs) {
  if (const auto& problem = gpus.problem()) {
    throw std::runtime_error(problem->sentence);
  }
  for (const char* name : {"a", "b"}) {
    if (const Array& vector = inputs[name].array(); vector.is_on_device()) {
      return gpus.find(vector.device()->gpu());
    }
  }
  return gpus.gpus().front();
}

// One call: its inputs on the GPU, and the work on them. Endpoints return once the work is finished.
struct Call {
  Call(KernelStore& kernels, const Object& inputs, Context& context) : Call(kernels, inputs, gpus_of(context)) {}

  // s * a + b
  [[nodiscard]] Array sum() {
    const Array sum = work.allocate(a.shape());
    work.combine(sum, s, a, 1.0, b);
    return sum;
  }

  [[nodiscard]] Array dot(const Array& left, const Array& right) {
    const Array product = work.allocate({});
    work.dot(product, left, right);
    return product;
  }

  // A copy that can be written to.
  [[nodiscard]] Array scaled(const Array& vector, double factor) {
    const Array copy = work.allocate(vector.shape());
    work.scale(copy, factor, vector);
    return copy;
  }

  // Takes a change of s * a + b to the change of the result.
  void follow_normalization(const Array& change) {
    if (normalize) {
      const Array vector = sum();
      work.follow_normalization(change, vector, dot(vector, vector));
    }
  }

  VectorWork work;
  Array a;
  Array b;
  double s;
  bool normalize;

 private:
  Call(KernelStore& kernels, const Object& inputs, const std::shared_ptr<GpuSystem>& gpus)
      : work(gpus, kernels.on(choose_gpu(*gpus, inputs))),
        a(work.take(inputs["a"].array())),
        b(work.take(inputs["b"].array())),
        s(number_of(inputs["s"].array())),
        normalize(inputs["normalize"].boolean()) {}

  static std::shared_ptr<GpuSystem> gpus_of(Context& context) {
    std::shared_ptr<GpuSystem> gpus = context.gpus();
    if (gpus == nullptr) {
      throw std::runtime_error("this program gives no GPU to its Tesseracts");
    }
    return gpus;
  }
};

Object apply(Call& call) {
  const Array result = call.sum();
  if (call.normalize) {
    call.work.normalize(result, call.dot(result, result));
  }
  call.work.finish();
  return {{"result", result}};
}

// The derivative of the result by a, b or s at its input: a matrix for a vector, a column for a number.
Array derivative_by(Call& call, const std::string& name) {
  if (name == "s") {
    const Array column = call.scaled(call.a, 1.0);
    call.follow_normalization(column);
    return column;
  }
  const Array matrix = call.work.allocate({call.a.size(), call.a.size()});
  const double factor = name == "a" ? call.s : 1.0;
  if (call.normalize) {
    const Array vector = call.sum();
    call.work.normalized_diagonal(matrix, factor, vector, call.dot(vector, vector));
  } else {
    call.work.diagonal(matrix, factor);
  }
  return matrix;
}

Object jacobian(Call& call, const PathSet& jac_inputs, const PathSet& jac_outputs) {
  Object by_input;
  for (const std::string& input : jac_inputs) {
    by_input.set(input, derivative_by(call, input));
  }
  call.work.finish();
  Object derivatives;
  for (const std::string& output : jac_outputs) {
    derivatives.set(output, by_input);
  }
  return derivatives;
}

Object jacobian_vector_product(Call& call, const PathSet& jvp_inputs, const PathSet& jvp_outputs,
                               const Object& tangents) {
  const Array change = call.scaled(call.a, 0.0);
  for (const std::string& input : jvp_inputs) {
    const Array& tangent = tangents[input].array();
    if (input == "s") {
      call.work.combine(change, 1.0, change, number_of(tangent), call.a);
    } else {
      call.work.combine(change, 1.0, change, input == "a" ? call.s : 1.0, call.work.take(tangent));
    }
  }
  call.follow_normalization(change);
  call.work.finish();

  Object changes;
  for (const std::string& output : jvp_outputs) {
    changes.set(output, change);
  }
  return changes;
}

Object vector_jacobian_product(Call& call, const PathSet& vjp_inputs, const Object& cotangents) {
  const Array weight = call.scaled(call.work.take(cotangents["result"].array()), 1.0);
  call.follow_normalization(weight);

  Object gradients;
  for (const std::string& input : vjp_inputs) {
    if (input == "a") {
      gradients.set(input, call.scaled(weight, call.s));
    } else {
      gradients.set(input, input == "s" ? call.dot(weight, call.a) : weight);
    }
  }
  call.work.finish();
  return gradients;
}

Object abstract_eval(const Object& inputs, Context& /*context*/) {
  return {{"result", Array::shape_only(DType::kFloat64, inputs["a"].array().shape())}};
}

}  // namespace

TESSERA_MODULE {
  // The kernels are loaded once and live as long as the Tesseract.
  const auto kernels = std::make_shared<KernelStore>();
  return TesseractDefinition("vectoradd_cuda")
      .version("1.0.0")
      .inputs(input_schema())
      .outputs(output_schema())
      .takes_device_arrays()
      .apply(
          [kernels](const Object& inputs, Context& context) {
            Call call(*kernels, inputs, context);
            return apply(call);
          },
          "Multiplies a by s and adds b.")
      .jacobian(
          [kernels](const Object& inputs, const PathSet& jac_inputs, const PathSet& jac_outputs, Context& context) {
            Call call(*kernels, inputs, context);
            return jacobian(call, jac_inputs, jac_outputs);
          },
          "The full derivative of result by each of jac_inputs.")
      .jacobian_vector_product(
          [kernels](const Object& inputs, const PathSet& jvp_inputs, const PathSet& jvp_outputs, const Object& tangents,
                    Context& context) {
            Call call(*kernels, inputs, context);
            return jacobian_vector_product(call, jvp_inputs, jvp_outputs, tangents);
          },
          "How result changes when each of jvp_inputs moves along its tangent.")
      .vector_jacobian_product(
          [kernels](const Object& inputs, const PathSet& vjp_inputs, const PathSet& /*vjp_outputs*/,
                    const Object& cotangents, Context& context) {
            Call call(*kernels, inputs, context);
            return vector_jacobian_product(call, vjp_inputs, cotangents);
          },
          "How the cotangent of result falls back on each of vjp_inputs.")
      .abstract_eval(abstract_eval, "The shape of result, which is the shape of a.");
}
