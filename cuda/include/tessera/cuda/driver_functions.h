// The one table of the driver's calls that tessera makes, and the few declarations of CUDA that they need. Checked
// against <cuda.h> by src/signature_check.cpp where the toolkit is found.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tessera {

/// A CUdeviceptr.
using CuAddress = unsigned long long;
/// CUcontext, CUstream, CUmodule and CUfunction: pointers to what only the driver knows.
using CuContext = void*;
using CuStream = void*;
using CuModule = void*;
using CuFunction = void*;

/// A CUuuid.
struct CuUuid {
  std::array<std::uint8_t, 16> bytes;
};

/// A CUipcMemHandle; handed over by value.
struct CuIpcMemHandle {
  std::array<std::byte, 64> bytes;
};

/// A CUDA_MEMCPY2D.
struct CuMemcpy2D {
  std::size_t source_x_bytes;
  std::size_t source_y;
  unsigned int source_type;
  const void* source_host;
  CuAddress source_device;
  void* source_array;
  std::size_t source_pitch;
  std::size_t target_x_bytes;
  std::size_t target_y;
  unsigned int target_type;
  void* target_host;
  CuAddress target_device;
  void* target_array;
  std::size_t target_pitch;
  std::size_t width_bytes;
  std::size_t height;
};

/// X(field, exported symbol, type): the symbols that libcuda.so.1 exports, with the suffixes that <cuda.h> adds by
/// macro. Results are CUresult numbers, 0 is success.
#define TESSERA_CUDA_FUNCTIONS(X)                                                                                      \
  X(init, cuInit, int(unsigned int flags))                                                                             \
  X(driver_get_version, cuDriverGetVersion, int(int* version))                                                         \
  X(get_error_name, cuGetErrorName, int(int error, const char** name))                                                 \
  X(device_get_count, cuDeviceGetCount, int(int* count))                                                               \
  X(device_get, cuDeviceGet, int(int* device, int ordinal))                                                            \
  X(device_get_name, cuDeviceGetName, int(char* name, int size_bytes, int device))                                     \
  X(device_get_uuid, cuDeviceGetUuid_v2, int(CuUuid * uuid, int device))                                               \
  X(device_total_mem, cuDeviceTotalMem_v2, int(std::size_t* bytes, int device))                                        \
  X(device_get_attribute, cuDeviceGetAttribute, int(int* value, int attribute, int device))                            \
  X(device_get_pci_bus_id, cuDeviceGetPCIBusId, int(char* id, int size_bytes, int device))                             \
  X(primary_context_retain, cuDevicePrimaryCtxRetain, int(CuContext * context, int device))                            \
  X(primary_context_release, cuDevicePrimaryCtxRelease_v2, int(int device))                                            \
  X(context_get_current, cuCtxGetCurrent, int(CuContext * context))                                                    \
  X(context_set_current, cuCtxSetCurrent, int(CuContext context))                                                      \
  X(context_synchronize, cuCtxSynchronize, int())                                                                      \
  X(mem_get_info, cuMemGetInfo_v2, int(std::size_t* free_bytes, std::size_t* total_bytes))                             \
  X(mem_alloc, cuMemAlloc_v2, int(CuAddress * address, std::size_t size_bytes))                                        \
  X(mem_free, cuMemFree_v2, int(CuAddress address))                                                                    \
  X(mem_get_address_range, cuMemGetAddressRange_v2, int(CuAddress * base, std::size_t* size_bytes, CuAddress address)) \
  X(pointer_get_attributes, cuPointerGetAttributes,                                                                    \
    int(unsigned int count, int* attributes, void** values, CuAddress address))                                        \
  X(memcpy_to_device, cuMemcpyHtoDAsync_v2,                                                                            \
    int(CuAddress target, const void* source, std::size_t size_bytes, CuStream stream))                                \
  X(memcpy_to_host, cuMemcpyDtoHAsync_v2,                                                                              \
    int(void* target, CuAddress source, std::size_t size_bytes, CuStream stream))                                      \
  X(memcpy_on_device, cuMemcpyDtoDAsync_v2,                                                                            \
    int(CuAddress target, CuAddress source, std::size_t size_bytes, CuStream stream))                                  \
  X(memcpy_2d, cuMemcpy2DAsync_v2, int(const CuMemcpy2D* copy, CuStream stream))                                       \
  X(memset_bytes, cuMemsetD8Async, int(CuAddress target, unsigned char value, std::size_t count, CuStream stream))     \
  X(stream_synchronize, cuStreamSynchronize, int(CuStream stream))                                                     \
  X(ipc_get_mem_handle, cuIpcGetMemHandle, int(CuIpcMemHandle * handle, CuAddress address))                            \
  X(ipc_open_mem_handle, cuIpcOpenMemHandle_v2, int(CuAddress * address, CuIpcMemHandle handle, unsigned int flags))   \
  X(ipc_close_mem_handle, cuIpcCloseMemHandle, int(CuAddress address))

/// The same for calls that tessera does not make, but authors with kernels of their own do. Every driver of NVIDIA's
/// has them; where there are none, as in one that stands in for it, they are null, and tessera works.
#define TESSERA_CUDA_KERNEL_FUNCTIONS(X)                                                                     \
  X(module_load_data, cuModuleLoadData, int(CuModule * module, const void* image))                           \
  X(module_unload, cuModuleUnload, int(CuModule module))                                                     \
  X(module_get_function, cuModuleGetFunction, int(CuFunction * function, CuModule module, const char* name)) \
  X(stream_create, cuStreamCreate, int(CuStream * stream, unsigned int flags))                               \
  X(stream_destroy, cuStreamDestroy_v2, int(CuStream stream))                                                \
  X(launch_kernel, cuLaunchKernel,                                                                           \
    int(CuFunction function, unsigned int blocks_x, unsigned int blocks_y, unsigned int blocks_z,            \
        unsigned int threads_x, unsigned int threads_y, unsigned int threads_z, unsigned int shared_bytes,   \
        CuStream stream, void** arguments, void** extra))

/// The calls, found in the library. All of the first table are there in a Driver. Immutable after loading; safe to use
/// from any thread.
struct DriverFunctions {
#define TESSERA_CUDA_FIELD(field, symbol, ...) std::add_pointer_t<__VA_ARGS__> field = nullptr;
  TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_FIELD)
  TESSERA_CUDA_KERNEL_FUNCTIONS(TESSERA_CUDA_FIELD)
#undef TESSERA_CUDA_FIELD
};

// Numbers of <cuda.h>: results that somebody tells apart.
inline constexpr int kCudaSuccess = 0;
inline constexpr int kCudaInvalidValue = 1;
inline constexpr int kCudaOutOfMemory = 2;
inline constexpr int kCudaNotInitialized = 3;
inline constexpr int kCudaDeinitialized = 4;
inline constexpr int kCudaStubLibrary = 34;
inline constexpr int kCudaInsufficientDriver = 35;
inline constexpr int kCudaDeviceUnavailable = 46;
inline constexpr int kCudaNoDevice = 100;
inline constexpr int kCudaInvalidDevice = 101;
inline constexpr int kCudaInvalidContext = 201;
inline constexpr int kCudaMapFailed = 205;
inline constexpr int kCudaAlreadyMapped = 208;
inline constexpr int kCudaPeerAccessUnsupported = 217;
inline constexpr int kCudaOperatingSystem = 304;
inline constexpr int kCudaInvalidHandle = 400;
inline constexpr int kCudaNotFound = 500;
inline constexpr int kCudaTooManyPeers = 711;
inline constexpr int kCudaNotPermitted = 800;
inline constexpr int kCudaNotSupported = 801;
inline constexpr int kCudaSystemNotReady = 802;
inline constexpr int kCudaDriverMismatch = 803;
inline constexpr int kCudaCompatNotSupported = 804;
inline constexpr int kCudaUnknown = 999;

// CUdevice_attribute, CUcomputemode.
inline constexpr int kDeviceIntegrated = 18;
inline constexpr int kDeviceComputeMode = 20;
inline constexpr int kDeviceIpcEventSupported = 125;
inline constexpr int kDeviceMpsEnabled = 133;
inline constexpr int kComputeModeProhibited = 2;
inline constexpr int kComputeModeExclusive = 3;

// CUpointer_attribute, CUmemorytype.
inline constexpr int kPointerMemoryType = 2;
inline constexpr int kPointerBufferId = 7;
inline constexpr int kPointerIsManaged = 8;
inline constexpr int kPointerDeviceOrdinal = 9;
inline constexpr int kPointerIsIpcCapable = 10;
inline constexpr int kPointerRangeStart = 11;
inline constexpr int kPointerRangeSize = 12;
inline constexpr unsigned int kMemoryTypeDevice = 2;

/// cuIpcOpenMemHandle's only documented flag.
inline constexpr unsigned int kIpcLazyEnablePeerAccess = 1;
/// CU_STREAM_NON_BLOCKING: a stream that neither waits for the legacy one nor is waited for.
inline constexpr unsigned int kStreamNonBlocking = 1;
/// The value of CU_STREAM_PER_THREAD.
inline constexpr std::uintptr_t kPerThreadStream = 2;

}  // namespace tessera
