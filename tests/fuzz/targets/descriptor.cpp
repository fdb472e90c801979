// The descriptors of arrays in GPU memory, of which no driver need hear.
#include "tessera/ipc/descriptor.h"

#include <string>

#include "input.h"
#include "targets.h"

namespace tessera::fuzzing {

void fuzz_descriptor(std::string_view text) {
  const Result<CudaIpcDescriptor> descriptor = CudaIpcDescriptor::parse(text);
  if (!descriptor.has_value()) {
    require(!descriptor.error().message().empty(), "a refusal says why");
    return;
  }
  const std::string written = descriptor->text();
  const Result<CudaIpcDescriptor> again = CudaIpcDescriptor::parse(written);
  require(again.has_value() && *again == *descriptor, "a descriptor survives its text");
  // Leading zeros are all that two texts of one descriptor may differ in.
  require(written.size() <= text.size(), "its text is the shortest");
}

}  // namespace tessera::fuzzing
