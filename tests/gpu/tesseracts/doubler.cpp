// tests/vectors/tesseracts/gpu_standin, in C++: doubles an array, and puts it where it is asked for.

#include <string>

#include "author_memory.h"
#include "tessera/tesseract/tesseract.h"

using namespace tessera;
using namespace tessera::gpu_tests;

namespace {

Schema input_schema() {
  return Schema("InputSchema")
      .field("a", array_of_any_dtype())
      .field("place", choice({"gpu", "gpu1", "host", "empty"}), "", "gpu");
}

Schema output_schema() {
  return Schema("OutputSchema")
      .field("doubled", array_of_any_dtype())
      .field("host", array(DType::kInt32, {kFreeAxis}))
      .field("kind", text());
}

Array twice(const Array& a) {
  Array host = unwrap(a.to_host());
  if (host.dtype() == DType::kFloat64) {
    for (double& value : host.mutable_values<double>()) {
      value *= 2;
    }
  } else if (host.size() != 0) {
    throw EndpointError("ValueError", "doubles are doubled, nothing else");
  }
  return host;
}

Object apply(const Object& inputs, Context& context) {
  const Array& a = inputs["a"].array();
  const std::string& place = inputs["place"].text();
  Array doubled = twice(a);
  if (place == "empty") {
    GpuSystem& gpus = *context.gpus();
    doubled = unwrap(gpus.allocate(gpu_of(gpus, 0).uuid(), DType::kFloat32, {2, 0}));
  } else if (place != "host") {
    GpuSystem& gpus = *context.gpus();
    doubled = copy_to(AuthorMemory::kOffset, doubled, gpus, gpu_of(gpus, place == "gpu1" ? 1 : 0));
  }
  return {{"doubled", doubled}, {"host", Array::of<std::int32_t>({1, 2})}, {"kind", a.is_on_device() ? "device" : "host"}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("doubler")
      .inputs(input_schema())
      .outputs(output_schema())
      .takes_device_arrays()
      .apply(apply);
}
