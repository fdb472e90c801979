// Makes many arrays from a few numbers, in GPU memory and on the host by turns; waits and fails on demand.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <thread>

#include "author_memory.h"
#include "tessera/tesseract/tesseract.h"

using namespace tessera;
using namespace tessera::gpu_tests;

namespace {

Schema input_schema() {
  return Schema("InputSchema")
      .field("count", integer().at_least(0).at_most(1000), "Arrays.")
      .field("size", integer().at_least(0).at_most(1 << 24), "Elements of each.", 16)
      .field("first", number(), "All elements of the first array; those of the next are one more.", 0.0)
      .field("all_on_gpu", boolean(), "", false)
      .field("gate", text(), "A file that has to be there before the function ends.", "")
      .field("fails", boolean(), "Fails once all is made.", false);
}

Schema output_schema() {
  return Schema("OutputSchema").field("arrays", list_of(array(DType::kFloat32, {kFreeAxis})));
}

void wait_for(const std::string& gate) {
  std::error_code fault;
  while (!gate.empty() && !std::filesystem::exists(gate, fault)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

Object apply(const Object& inputs, Context& context) {
  GpuSystem& gpus = *context.gpus();
  const Gpu& gpu = gpu_of(gpus, 0);
  const bool are_all_on_gpu = inputs["all_on_gpu"].boolean();
  List arrays;
  for (std::int64_t i = 0; i < inputs["count"].integer(); ++i) {
    Array values = Array::allocate(DType::kFloat32, {inputs["size"].integer()});
    for (float& value : values.mutable_values<float>()) {
      value = static_cast<float>(inputs["first"].number()) + static_cast<float>(i);
    }
    const bool is_on_gpu = are_all_on_gpu || i % 2 == 0;
    arrays.emplace_back(is_on_gpu ? unwrap(gpus.to_device(values, gpu.uuid())) : values);
  }
  wait_for(inputs["gate"].text());
  if (inputs["fails"].boolean()) {
    throw EndpointError("RuntimeError", "failed with arrays in GPU memory");
  }
  return {{"arrays", arrays}};
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("mixed").inputs(input_schema()).outputs(output_schema()).apply(apply);
}
