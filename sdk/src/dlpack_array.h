// Arrays as DLPack hands them over, both ways. For the C API and for bindings; may be called from any thread.
#pragma once

#include <memory>

#include "tessera/array/array.h"
#include "tessera/base/result.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/sdk/dlpack.h"

namespace tessera {

/// An array over the tensor's memory, or a copy of it: where the elements are not in C order or not aligned, and of
/// bools in host memory, which become 0 or 1. The array owns the tensor from then on and calls its deleter once, on
/// whatever thread, at the latest when its last copy goes; after an error the tensor is still the caller's. The memory
/// must not be written to while an array shares it.
///
/// Memory of a GPU is wrapped by `gpus`, by shared_gpus() if that is empty; `stream` is the CUstream whose work fills
/// it. Errors: kInvalidArgument for what no Array can be: an element type or a device that tessera does not have, more
/// than kMaxRank axes, sizes and strides that lead out of the address space, a GPU other than the memory's; others of
/// CUDA. Throws std::bad_alloc.
[[nodiscard]] Result<Array> array_from_dlpack(DLManagedTensor* tensor, const std::shared_ptr<GpuSystem>& gpus = nullptr,
                                              void* stream = nullptr);

/// A tensor that shares the array's memory, in C order, its strides spelled out; the caller, or who takes it over,
/// calls its deleter once, on any thread. It is filled once the work of `array.device()->stream()` is done. Errors:
/// kInvalidArgument for an array without data, kNotFound for one on a GPU that `gpus`, or shared_gpus(), does not have.
/// Throws std::bad_alloc.
[[nodiscard]] Result<DLManagedTensor*> dlpack_from_array(const Array& array,
                                                         const std::shared_ptr<GpuSystem>& gpus = nullptr);

}  // namespace tessera
