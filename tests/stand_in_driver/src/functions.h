// Every call that the library exports, with the CUDA version that brought it. The counters, the faults and
// cuGetProcAddress go by this list.
#pragma once

#include <cstddef>

// X(exported name, name for cuGetProcAddress, version, whether it is the twin with per-thread default streams)
#define TESSERA_STAND_IN_FUNCTIONS(X)                                             \
  X(cuInit, "cuInit", 2000, false)                                                \
  X(cuDriverGetVersion, "cuDriverGetVersion", 2020, false)                        \
  X(cuGetErrorName, "cuGetErrorName", 6000, false)                                \
  X(cuGetErrorString, "cuGetErrorString", 6000, false)                            \
  X(cuGetProcAddress, "cuGetProcAddress", 11030, false)                           \
  X(cuGetProcAddress_v2, "cuGetProcAddress", 12000, false)                        \
  X(cuDeviceGetCount, "cuDeviceGetCount", 2000, false)                            \
  X(cuDeviceGet, "cuDeviceGet", 2000, false)                                      \
  X(cuDeviceGetName, "cuDeviceGetName", 2000, false)                              \
  X(cuDeviceGetUuid, "cuDeviceGetUuid", 9020, false)                              \
  X(cuDeviceGetUuid_v2, "cuDeviceGetUuid", 11040, false)                          \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", 2000, false)                    \
  X(cuDeviceTotalMem_v2, "cuDeviceTotalMem", 3020, false)                         \
  X(cuDeviceGetPCIBusId, "cuDeviceGetPCIBusId", 4010, false)                      \
  X(cuDeviceGetByPCIBusId, "cuDeviceGetByPCIBusId", 4010, false)                  \
  X(cuDeviceCanAccessPeer, "cuDeviceCanAccessPeer", 4000, false)                  \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", 7000, false)            \
  X(cuDevicePrimaryCtxRelease_v2, "cuDevicePrimaryCtxRelease", 11000, false)      \
  X(cuDevicePrimaryCtxReset_v2, "cuDevicePrimaryCtxReset", 11000, false)          \
  X(cuDevicePrimaryCtxSetFlags_v2, "cuDevicePrimaryCtxSetFlags", 11000, false)    \
  X(cuDevicePrimaryCtxGetState, "cuDevicePrimaryCtxGetState", 7000, false)        \
  X(cuCtxSetCurrent, "cuCtxSetCurrent", 4000, false)                              \
  X(cuCtxGetCurrent, "cuCtxGetCurrent", 4000, false)                              \
  X(cuCtxPushCurrent_v2, "cuCtxPushCurrent", 4000, false)                         \
  X(cuCtxPopCurrent_v2, "cuCtxPopCurrent", 4000, false)                           \
  X(cuCtxGetDevice, "cuCtxGetDevice", 2000, false)                                \
  X(cuCtxSynchronize, "cuCtxSynchronize", 2000, false)                            \
  X(cuMemAlloc_v2, "cuMemAlloc", 3020, false)                                     \
  X(cuMemFree_v2, "cuMemFree", 3020, false)                                       \
  X(cuMemGetInfo_v2, "cuMemGetInfo", 3020, false)                                 \
  X(cuMemGetAddressRange_v2, "cuMemGetAddressRange", 3020, false)                 \
  X(cuMemAllocManaged, "cuMemAllocManaged", 6000, false)                          \
  X(cuMemAllocHost_v2, "cuMemAllocHost", 3020, false)                             \
  X(cuMemFreeHost, "cuMemFreeHost", 2000, false)                                  \
  X(cuMemAllocAsync, "cuMemAllocAsync", 11020, false)                             \
  X(cuMemAllocAsync_ptsz, "cuMemAllocAsync", 11020, true)                         \
  X(cuMemFreeAsync, "cuMemFreeAsync", 11020, false)                               \
  X(cuMemFreeAsync_ptsz, "cuMemFreeAsync", 11020, true)                           \
  X(cuMemcpy, "cuMemcpy", 4000, false)                                            \
  X(cuMemcpy_ptds, "cuMemcpy", 7000, true)                                        \
  X(cuMemcpyAsync, "cuMemcpyAsync", 4000, false)                                  \
  X(cuMemcpyAsync_ptsz, "cuMemcpyAsync", 7000, true)                              \
  X(cuMemcpyHtoD_v2, "cuMemcpyHtoD", 3020, false)                                 \
  X(cuMemcpyHtoD_v2_ptds, "cuMemcpyHtoD", 7000, true)                             \
  X(cuMemcpyHtoDAsync_v2, "cuMemcpyHtoDAsync", 3020, false)                       \
  X(cuMemcpyHtoDAsync_v2_ptsz, "cuMemcpyHtoDAsync", 7000, true)                   \
  X(cuMemcpyDtoH_v2, "cuMemcpyDtoH", 3020, false)                                 \
  X(cuMemcpyDtoH_v2_ptds, "cuMemcpyDtoH", 7000, true)                             \
  X(cuMemcpyDtoHAsync_v2, "cuMemcpyDtoHAsync", 3020, false)                       \
  X(cuMemcpyDtoHAsync_v2_ptsz, "cuMemcpyDtoHAsync", 7000, true)                   \
  X(cuMemcpyDtoD_v2, "cuMemcpyDtoD", 3020, false)                                 \
  X(cuMemcpyDtoD_v2_ptds, "cuMemcpyDtoD", 7000, true)                             \
  X(cuMemcpyDtoDAsync_v2, "cuMemcpyDtoDAsync", 3020, false)                       \
  X(cuMemcpyDtoDAsync_v2_ptsz, "cuMemcpyDtoDAsync", 7000, true)                   \
  X(cuMemcpy2D_v2, "cuMemcpy2D", 3020, false)                                     \
  X(cuMemcpy2D_v2_ptds, "cuMemcpy2D", 7000, true)                                 \
  X(cuMemcpy2DUnaligned_v2, "cuMemcpy2DUnaligned", 3020, false)                   \
  X(cuMemcpy2DUnaligned_v2_ptds, "cuMemcpy2DUnaligned", 7000, true)               \
  X(cuMemcpy2DAsync_v2, "cuMemcpy2DAsync", 3020, false)                           \
  X(cuMemcpy2DAsync_v2_ptsz, "cuMemcpy2DAsync", 7000, true)                       \
  X(cuMemcpy3D_v2, "cuMemcpy3D", 3020, false)                                     \
  X(cuMemcpy3D_v2_ptds, "cuMemcpy3D", 7000, true)                                 \
  X(cuMemcpy3DAsync_v2, "cuMemcpy3DAsync", 3020, false)                           \
  X(cuMemcpy3DAsync_v2_ptsz, "cuMemcpy3DAsync", 7000, true)                       \
  X(cuMemsetD8_v2, "cuMemsetD8", 3020, false)                                     \
  X(cuMemsetD8_v2_ptds, "cuMemsetD8", 7000, true)                                 \
  X(cuMemsetD8Async, "cuMemsetD8Async", 3020, false)                              \
  X(cuMemsetD8Async_ptsz, "cuMemsetD8Async", 7000, true)                          \
  X(cuStreamCreate, "cuStreamCreate", 2000, false)                                \
  X(cuStreamDestroy_v2, "cuStreamDestroy", 4000, false)                           \
  X(cuStreamSynchronize, "cuStreamSynchronize", 2000, false)                      \
  X(cuStreamSynchronize_ptsz, "cuStreamSynchronize", 7000, true)                  \
  X(cuStreamQuery, "cuStreamQuery", 2000, false)                                  \
  X(cuStreamQuery_ptsz, "cuStreamQuery", 7000, true)                              \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", 3020, false)                          \
  X(cuStreamWaitEvent_ptsz, "cuStreamWaitEvent", 7000, true)                      \
  X(cuEventCreate, "cuEventCreate", 2000, false)                                  \
  X(cuEventDestroy_v2, "cuEventDestroy", 4000, false)                             \
  X(cuEventRecord, "cuEventRecord", 2000, false)                                  \
  X(cuEventRecord_ptsz, "cuEventRecord", 7000, true)                              \
  X(cuEventQuery, "cuEventQuery", 2000, false)                                    \
  X(cuEventSynchronize, "cuEventSynchronize", 2000, false)                        \
  X(cuIpcGetMemHandle, "cuIpcGetMemHandle", 4010, false)                          \
  X(cuIpcOpenMemHandle, "cuIpcOpenMemHandle", 4010, false)                        \
  X(cuIpcOpenMemHandle_v2, "cuIpcOpenMemHandle", 11000, false)                    \
  X(cuIpcCloseMemHandle, "cuIpcCloseMemHandle", 4010, false)                      \
  X(cuIpcGetEventHandle, "cuIpcGetEventHandle", 4010, false)                      \
  X(cuIpcOpenEventHandle, "cuIpcOpenEventHandle", 4010, false)                    \
  X(cuPointerGetAttribute, "cuPointerGetAttribute", 4000, false)                  \
  X(cuPointerGetAttributes, "cuPointerGetAttributes", 7000, false)                \
  X(cuMemGetAllocationGranularity, "cuMemGetAllocationGranularity", 10020, false) \
  X(cuMemCreate, "cuMemCreate", 10020, false)                                     \
  X(cuMemRelease, "cuMemRelease", 10020, false)                                   \
  X(cuMemAddressReserve, "cuMemAddressReserve", 10020, false)                     \
  X(cuMemAddressFree, "cuMemAddressFree", 10020, false)                           \
  X(cuMemMap, "cuMemMap", 10020, false)                                           \
  X(cuMemUnmap, "cuMemUnmap", 10020, false)                                       \
  X(cuMemSetAccess, "cuMemSetAccess", 10020, false)                               \
  X(cuMemRetainAllocationHandle, "cuMemRetainAllocationHandle", 11000, false)     \
  X(cuMemExportToShareableHandle, "cuMemExportToShareableHandle", 10020, false)   \
  X(cuMemImportFromShareableHandle, "cuMemImportFromShareableHandle", 10020, false)

namespace tessera::stand_in {

// NOLINTBEGIN(readability-identifier-naming): CUDA's names
enum class Function : unsigned {
#define TESSERA_X(exported, name, version, per_thread) exported,
  TESSERA_STAND_IN_FUNCTIONS(TESSERA_X)
#undef TESSERA_X
};
// NOLINTEND(readability-identifier-naming)

inline constexpr const char* kFunctionNames[] = {
#define TESSERA_X(exported, name, version, per_thread) #exported,
    TESSERA_STAND_IN_FUNCTIONS(TESSERA_X)
#undef TESSERA_X
};
inline constexpr std::size_t kFunctionCount = sizeof(kFunctionNames) / sizeof(kFunctionNames[0]);

}  // namespace tessera::stand_in
