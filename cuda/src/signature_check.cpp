// Compiled only where CUDA's own header is found: our table against it. Defines nothing.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

// Whether a call can hand over `Theirs` where we declare `Ours`: enumerations are their numbers, pointers to what only
// the driver knows are void*, structures have the same size and alignment.
template <class Ours, class Theirs>
struct Fits : std::bool_constant<std::is_enum_v<Theirs> ? std::is_integral_v<Ours> && sizeof(Ours) == sizeof(Theirs)
                                                        : std::is_class_v<Ours> && std::is_class_v<Theirs> &&
                                                              sizeof(Ours) == sizeof(Theirs) &&
                                                              alignof(Ours) == alignof(Theirs)> {};
template <class Same>
struct Fits<Same, Same> : std::true_type {};
template <class Ours, class Theirs>
struct Fits<Ours*, Theirs*> : Fits<Ours, Theirs> {};
template <class Ours, class Theirs>
struct Fits<const Ours*, const Theirs*> : Fits<Ours, Theirs> {};
template <class Same>
struct Fits<Same*, Same*> : std::true_type {};
template <class Same>
struct Fits<const Same*, const Same*> : std::true_type {};
template <class Theirs>
  requires std::is_class_v<Theirs>
struct Fits<void*, Theirs*> : std::true_type {};

template <class Ours, class Theirs>
struct Signature;
template <class OurResult, class... OurArguments, class TheirResult, class... TheirArguments>
struct Signature<OurResult (*)(OurArguments...), TheirResult (*)(TheirArguments...)> {
  static constexpr bool is_same() {
    if constexpr (sizeof...(OurArguments) != sizeof...(TheirArguments)) {
      return false;
    } else {
      return Fits<OurResult, TheirResult>::value && (Fits<OurArguments, TheirArguments>::value && ...);
    }
  }
};

#define TESSERA_CUDA_CHECK(field, symbol, ...)                                               \
  static_assert(Signature<decltype(DriverFunctions::field), decltype(&::symbol)>::is_same(), \
                #symbol " is not what cuda.h declares");
TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_CHECK)
TESSERA_CUDA_KERNEL_FUNCTIONS(TESSERA_CUDA_CHECK)
#undef TESSERA_CUDA_CHECK

// A wrong declaration would be seen.
static_assert(!Signature<int (*)(int*), decltype(&::cuInit)>::is_same());
static_assert(!Signature<int (*)(unsigned int*, int), decltype(&::cuDeviceTotalMem_v2)>::is_same());
static_assert(!Signature<int (*)(CuAddress), decltype(&::cuMemAlloc_v2)>::is_same());

static_assert(offsetof(CuMemcpy2D, source_x_bytes) == offsetof(CUDA_MEMCPY2D, srcXInBytes));
static_assert(offsetof(CuMemcpy2D, source_y) == offsetof(CUDA_MEMCPY2D, srcY));
static_assert(offsetof(CuMemcpy2D, source_type) == offsetof(CUDA_MEMCPY2D, srcMemoryType));
static_assert(offsetof(CuMemcpy2D, source_host) == offsetof(CUDA_MEMCPY2D, srcHost));
static_assert(offsetof(CuMemcpy2D, source_device) == offsetof(CUDA_MEMCPY2D, srcDevice));
static_assert(offsetof(CuMemcpy2D, source_array) == offsetof(CUDA_MEMCPY2D, srcArray));
static_assert(offsetof(CuMemcpy2D, source_pitch) == offsetof(CUDA_MEMCPY2D, srcPitch));
static_assert(offsetof(CuMemcpy2D, target_x_bytes) == offsetof(CUDA_MEMCPY2D, dstXInBytes));
static_assert(offsetof(CuMemcpy2D, target_y) == offsetof(CUDA_MEMCPY2D, dstY));
static_assert(offsetof(CuMemcpy2D, target_type) == offsetof(CUDA_MEMCPY2D, dstMemoryType));
static_assert(offsetof(CuMemcpy2D, target_host) == offsetof(CUDA_MEMCPY2D, dstHost));
static_assert(offsetof(CuMemcpy2D, target_device) == offsetof(CUDA_MEMCPY2D, dstDevice));
static_assert(offsetof(CuMemcpy2D, target_array) == offsetof(CUDA_MEMCPY2D, dstArray));
static_assert(offsetof(CuMemcpy2D, target_pitch) == offsetof(CUDA_MEMCPY2D, dstPitch));
static_assert(offsetof(CuMemcpy2D, width_bytes) == offsetof(CUDA_MEMCPY2D, WidthInBytes));
static_assert(offsetof(CuMemcpy2D, height) == offsetof(CUDA_MEMCPY2D, Height));
static_assert(sizeof(CuMemcpy2D) == sizeof(CUDA_MEMCPY2D));
static_assert(sizeof(CuIpcMemHandle) == CU_IPC_HANDLE_SIZE);

static_assert(kCudaSuccess == CUDA_SUCCESS);
static_assert(kCudaInvalidValue == CUDA_ERROR_INVALID_VALUE);
static_assert(kCudaOutOfMemory == CUDA_ERROR_OUT_OF_MEMORY);
static_assert(kCudaNotInitialized == CUDA_ERROR_NOT_INITIALIZED);
static_assert(kCudaDeinitialized == CUDA_ERROR_DEINITIALIZED);
static_assert(kCudaStubLibrary == CUDA_ERROR_STUB_LIBRARY);
static_assert(kCudaInsufficientDriver == 35);  // only the runtime names it
static_assert(kCudaDeviceUnavailable == CUDA_ERROR_DEVICE_UNAVAILABLE);
static_assert(kCudaNoDevice == CUDA_ERROR_NO_DEVICE);
static_assert(kCudaInvalidDevice == CUDA_ERROR_INVALID_DEVICE);
static_assert(kCudaInvalidContext == CUDA_ERROR_INVALID_CONTEXT);
static_assert(kCudaMapFailed == CUDA_ERROR_MAP_FAILED);
static_assert(kCudaAlreadyMapped == CUDA_ERROR_ALREADY_MAPPED);
static_assert(kCudaPeerAccessUnsupported == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
static_assert(kCudaOperatingSystem == CUDA_ERROR_OPERATING_SYSTEM);
static_assert(kCudaInvalidHandle == CUDA_ERROR_INVALID_HANDLE);
static_assert(kCudaNotFound == CUDA_ERROR_NOT_FOUND);
static_assert(kCudaTooManyPeers == CUDA_ERROR_TOO_MANY_PEERS);
static_assert(kCudaNotPermitted == CUDA_ERROR_NOT_PERMITTED);
static_assert(kCudaNotSupported == CUDA_ERROR_NOT_SUPPORTED);
static_assert(kCudaSystemNotReady == CUDA_ERROR_SYSTEM_NOT_READY);
static_assert(kCudaDriverMismatch == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH);
static_assert(kCudaCompatNotSupported == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE);
static_assert(kCudaUnknown == CUDA_ERROR_UNKNOWN);

static_assert(kDeviceIntegrated == CU_DEVICE_ATTRIBUTE_INTEGRATED);
static_assert(kDeviceComputeMode == CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
static_assert(kComputeModeProhibited == CU_COMPUTEMODE_PROHIBITED);
static_assert(kComputeModeExclusive == CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
#if CUDA_VERSION >= 12010
static_assert(kDeviceIpcEventSupported == CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED);
static_assert(kDeviceMpsEnabled == CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
#endif

static_assert(kPointerMemoryType == CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
static_assert(kPointerBufferId == CU_POINTER_ATTRIBUTE_BUFFER_ID);
static_assert(kPointerIsManaged == CU_POINTER_ATTRIBUTE_IS_MANAGED);
static_assert(kPointerDeviceOrdinal == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
static_assert(kPointerIsIpcCapable == CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE);
static_assert(kPointerRangeStart == CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
static_assert(kPointerRangeSize == CU_POINTER_ATTRIBUTE_RANGE_SIZE);
static_assert(kMemoryTypeDevice == CU_MEMORYTYPE_DEVICE);
static_assert(kStreamNonBlocking == CU_STREAM_NON_BLOCKING);
static_assert(kIpcLazyEnablePeerAccess == CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);

}  // namespace
}  // namespace tessera
