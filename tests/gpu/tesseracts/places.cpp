// The Tesseract of the golden GPU transcripts (tests/vectors/gpu): hands an array back in the memory that is asked for.

#include <cstdint>
#include <memory>
#include <string>

#include "author_memory.h"
#include "tessera/tesseract/tesseract.h"

using namespace tessera;
using namespace tessera::gpu_tests;

namespace {

Schema input_schema() {
  return Schema("InputSchema")
      .field("x", array(DType::kFloat32).differentiable())
      .field("place",
             choice({"same", "new", "offset", "pages", "scalar", "empty", "gpu1", "pool", "managed", "strided",
                     "stream", "host", "raise"}),
             "", "same");
}

Schema output_schema() {
  return Schema("OutputSchema")
      .field("y", array(DType::kFloat32).differentiable())
      .field("sizes", array(DType::kInt32, {kFreeAxis}))
      .field("kind", text());
}

Array first_element(const Array& x) {
  const Array host = unwrap(x.to_host());
  return host.size() == 0 ? Array::scalar(0.0F) : Array::scalar(host.values<float>()[0]);
}

Array placed(const Array& x, const std::string& place, GpuSystem& gpus) {
  if (place == "same") {
    return x;
  }
  if (place == "host") {
    return unwrap(x.to_host());
  }
  const Gpu& gpu = gpu_of(gpus, place == "gpu1" ? 1 : 0);
  if (place == "scalar") {
    return unwrap(gpus.to_device(first_element(x), gpu.uuid()));
  }
  if (place == "empty") {
    return unwrap(gpus.allocate(gpu.uuid(), DType::kFloat32, {0, 3}));
  }
  if (place == "offset") {
    return copy_to(AuthorMemory::kOffset, x, gpus, gpu);
  }
  if (place == "pages") {
    return copy_to(AuthorMemory::kPages, x, gpus, gpu);
  }
  if (place == "pool") {
    return copy_to(AuthorMemory::kPool, x, gpus, gpu);
  }
  if (place == "managed") {
    return copy_to(AuthorMemory::kManaged, x, gpus, gpu);
  }
  if (place == "strided") {
    return copy_to(AuthorMemory::kStrided, x, gpus, gpu);
  }
  if (place == "stream") {
    return copy_on_a_stream(x, gpus, gpu);
  }
  const Array copy = unwrap(gpus.to_device(x, gpu.uuid()));
  if (place == "raise") {
    throw EndpointError("RuntimeError", "failed with an array in GPU memory");
  }
  return copy;
}

Object apply(const Object& inputs, Context& context) {
  const Array& x = inputs["x"].array();
  Array sizes = Array::allocate(DType::kInt32, {static_cast<std::int64_t>(x.rank())});
  for (std::size_t axis = 0; axis < x.rank(); ++axis) {
    sizes.mutable_values<std::int32_t>()[axis] = static_cast<std::int32_t>(x.shape()[axis]);
  }
  return {{"y", placed(x, inputs["place"].text(), *context.gpus())},
          {"sizes", sizes},
          {"kind", x.is_on_device() ? "device" : "host"}};
}

Object vector_jacobian_product(const Object& /*inputs*/, const PathSet& /*vjp_inputs*/, const PathSet& /*vjp_outputs*/,
                               const Object& cotangents, Context& /*context*/) {
  return {{"x", cotangents["y"]}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("places")
      .inputs(input_schema())
      .outputs(output_schema())
      .takes_device_arrays()
      .apply(apply)
      .vector_jacobian_product(vector_jacobian_product);
}
