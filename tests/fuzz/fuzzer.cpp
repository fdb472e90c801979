// The entry of one fuzzer: libFuzzer calls it with the inputs that it makes up. TESSERA_FUZZ_TARGET is the target.
#include <cstddef>
#include <cstdint>

#include "targets.h"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tessera::fuzzing::TESSERA_FUZZ_TARGET({reinterpret_cast<const char*>(data), size});
  return 0;
}
