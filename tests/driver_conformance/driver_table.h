// The calls that the suite makes, from whatever libcuda.so.1 the loader finds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tessera::driver_conformance {

using Code = int;
using Address = std::uint64_t;
using Bytes64 = std::array<unsigned char, 64>;
using Uuid = std::array<unsigned char, 16>;

/// CUipcMemHandle and CUipcEventHandle, which are given by value.
struct Handle {
  Bytes64 bytes;
};

/// CUmemLocation, CUmemAllocationProp, CUmemAccessDesc.
struct Location {
  int type = 1;
  int id = 0;
};
struct AllocationProperties {
  int type = 1;
  int requested_types = 1;
  Location location;
  void* windows = nullptr;
  std::array<unsigned char, 8> flags{};
};
struct AccessDescription {
  Location location;
  int flags = 0;
};

/// CUDA_MEMCPY2D.
struct Copy2D {
  std::size_t source_x = 0;
  std::size_t source_y = 0;
  int source_type = 2;
  const void* source_host = nullptr;
  Address source_device = 0;
  void* source_array = nullptr;
  std::size_t source_pitch = 0;
  std::size_t target_x = 0;
  std::size_t target_y = 0;
  int target_type = 2;
  void* target_host = nullptr;
  Address target_device = 0;
  void* target_array = nullptr;
  std::size_t target_pitch = 0;
  std::size_t width = 0;
  std::size_t height = 0;
};

// X(return, exported name, arguments)
#define TESSERA_CONFORMANCE_CALLS(X)                                                        \
  X(cuInit, (unsigned))                                                                     \
  X(cuDriverGetVersion, (int*))                                                             \
  X(cuDeviceGetCount, (int*))                                                               \
  X(cuDeviceGet, (int*, int))                                                               \
  X(cuDeviceGetName, (char*, int, int))                                                     \
  X(cuDeviceGetUuid_v2, (unsigned char*, int))                                              \
  X(cuDeviceGetAttribute, (int*, int, int))                                                 \
  X(cuDeviceTotalMem_v2, (std::size_t*, int))                                               \
  X(cuDeviceGetPCIBusId, (char*, int, int))                                                 \
  X(cuDeviceGetByPCIBusId, (int*, const char*))                                             \
  X(cuDeviceCanAccessPeer, (int*, int, int))                                                \
  X(cuDevicePrimaryCtxRetain, (void**, int))                                                \
  X(cuDevicePrimaryCtxRelease_v2, (int))                                                    \
  X(cuDevicePrimaryCtxGetState, (int, unsigned*, int*))                                     \
  X(cuCtxSetCurrent, (void*))                                                               \
  X(cuCtxGetCurrent, (void**))                                                              \
  X(cuCtxPushCurrent_v2, (void*))                                                           \
  X(cuCtxPopCurrent_v2, (void**))                                                           \
  X(cuCtxGetDevice, (int*))                                                                 \
  X(cuCtxSynchronize, ())                                                                   \
  X(cuMemAlloc_v2, (Address*, std::size_t))                                                 \
  X(cuMemFree_v2, (Address))                                                                \
  X(cuMemGetInfo_v2, (std::size_t*, std::size_t*))                                          \
  X(cuMemGetAddressRange_v2, (Address*, std::size_t*, Address))                             \
  X(cuMemAllocManaged, (Address*, std::size_t, unsigned))                                   \
  X(cuMemAllocAsync, (Address*, std::size_t, void*))                                        \
  X(cuMemFreeAsync, (Address, void*))                                                       \
  X(cuMemcpyHtoD_v2, (Address, const void*, std::size_t))                                   \
  X(cuMemcpyDtoH_v2, (void*, Address, std::size_t))                                         \
  X(cuMemcpyDtoD_v2, (Address, Address, std::size_t))                                       \
  X(cuMemcpyDtoDAsync_v2, (Address, Address, std::size_t, void*))                           \
  X(cuMemcpy2DAsync_v2, (const Copy2D*, void*))                                             \
  X(cuMemsetD8_v2, (Address, unsigned char, std::size_t))                                   \
  X(cuMemsetD8Async, (Address, unsigned char, std::size_t, void*))                          \
  X(cuStreamCreate, (void**, unsigned))                                                     \
  X(cuStreamDestroy_v2, (void*))                                                            \
  X(cuStreamSynchronize, (void*))                                                           \
  X(cuStreamQuery, (void*))                                                                 \
  X(cuStreamWaitEvent, (void*, void*, unsigned))                                            \
  X(cuEventCreate, (void**, unsigned))                                                      \
  X(cuEventDestroy_v2, (void*))                                                             \
  X(cuEventRecord, (void*, void*))                                                          \
  X(cuEventQuery, (void*))                                                                  \
  X(cuEventSynchronize, (void*))                                                            \
  X(cuIpcGetMemHandle, (Handle*, Address))                                                  \
  X(cuIpcOpenMemHandle_v2, (Address*, Handle, unsigned))                                    \
  X(cuIpcCloseMemHandle, (Address))                                                         \
  X(cuIpcGetEventHandle, (Handle*, void*))                                                  \
  X(cuIpcOpenEventHandle, (void**, Handle))                                                 \
  X(cuPointerGetAttribute, (void*, int, Address))                                           \
  X(cuPointerGetAttributes, (unsigned, int*, void**, Address))                              \
  X(cuGetErrorName, (int, const char**))                                                    \
  X(cuGetProcAddress_v2, (const char*, void**, int, std::uint64_t, int*))                   \
  X(cuMemGetAllocationGranularity, (std::size_t*, const AllocationProperties*, int))        \
  X(cuMemCreate, (std::uint64_t*, std::size_t, const AllocationProperties*, std::uint64_t)) \
  X(cuMemRelease, (std::uint64_t))                                                          \
  X(cuMemAddressReserve, (Address*, std::size_t, std::size_t, Address, std::uint64_t))      \
  X(cuMemAddressFree, (Address, std::size_t))                                               \
  X(cuMemMap, (Address, std::size_t, std::size_t, std::uint64_t, std::uint64_t))            \
  X(cuMemUnmap, (Address, std::size_t))                                                     \
  X(cuMemSetAccess, (Address, std::size_t, const AccessDescription*, std::size_t))          \
  X(cuMemRetainAllocationHandle, (std::uint64_t*, void*))                                   \
  X(cuMemExportToShareableHandle, (void*, std::uint64_t, int, std::uint64_t))               \
  X(cuMemImportFromShareableHandle, (std::uint64_t*, void*, int))

struct DriverTable {
  // NOLINTBEGIN(bugprone-macro-parentheses)
#define TESSERA_X(name, arguments) Code(*name) arguments = nullptr;
  TESSERA_CONFORMANCE_CALLS(TESSERA_X)
#undef TESSERA_X
  // NOLINTEND(bugprone-macro-parentheses)
  /// Only the stand-in has it: names of rules that it can break.
  const char* (*mutation)(std::size_t) = nullptr;
};

/// Loads the table. Empty if all is there, else what is missing.
[[nodiscard]] std::string load_driver(DriverTable& table);

/// The table of this process, loaded by main.
[[nodiscard]] DriverTable& driver();

}  // namespace tessera::driver_conformance
