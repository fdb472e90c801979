// Arrays in GPU memory of every kind that an author of a Tesseract may hand on.
#pragma once

#include <memory>

#include "tessera/array/array.h"
#include "tessera/base/result.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/tesseract/endpoint_error.h"

namespace tessera::gpu_tests {

enum class AuthorMemory {
  kPool,     ///< of cuMemAllocAsync: has no handle
  kManaged,  ///< of cuMemAllocManaged: has no handle
  kOffset,   ///< the middle of a larger allocation, too small for pages of its own: has no handle of its own
  kPages,    ///< the same in whole pages: has a handle
  kStrided,  ///< every second element of a larger one
};

/// A copy of an array, of the host or of a GPU, in such memory, which goes with the array. Throws EndpointError.
[[nodiscard]] Array copy_to(AuthorMemory memory, const Array& array, GpuSystem& gpus, const Gpu& gpu);

/// A copy of an array that is being made on a stream of its own, which the copy names: nothing has waited for it.
/// Throws EndpointError.
[[nodiscard]] Array copy_on_a_stream(const Array& array, GpuSystem& gpus, const Gpu& gpu);

/// The value, or an EndpointError in its place.
template <class T>
[[nodiscard]] T unwrap(Result<T> result) {
  if (!result) {
    throw EndpointError("RuntimeError", result.error().message());
  }
  return std::move(result).value();
}
inline void unwrap(const Status& status) {
  if (!status) {
    throw EndpointError("RuntimeError", status.error().message());
  }
}

/// A GPU by its number. Throws EndpointError if there is none.
[[nodiscard]] const Gpu& gpu_of(GpuSystem& gpus, std::size_t number);

}  // namespace tessera::gpu_tests
