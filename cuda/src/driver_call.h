// How this folder makes a call of the driver.
#pragma once

#include <string_view>

#include "tessera/base/result.h"
#include "tessera/cuda/driver.h"
#include "tessera/cuda/driver_functions.h"
#include "tessera/cuda/gpu.h"

namespace tessera {

/// What a call returned, as a Status that names it.
[[nodiscard]] inline Status status_of(const Driver& driver, std::string_view call, int result) {
  return result == kCudaSuccess ? Status() : Status(driver.error_of(call, result));
}

/// CU_STREAM_PER_THREAD: a stream of each thread that, unlike a non-blocking one, comes after the work of the legacy
/// stream.
[[nodiscard]] inline CuStream per_thread_stream() {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver has it so
  return reinterpret_cast<CuStream>(kPerThreadStream);
}

/// Waits for what this thread put on its stream. Requires: a scope of `gpu`.
[[nodiscard]] inline Status wait_for_own_stream(const Driver& driver) {
  return status_of(driver, "cuStreamSynchronize", driver.functions().stream_synchronize(per_thread_stream()));
}

}  // namespace tessera
