// The calls of the CUDA runtime that the Python SDK makes, on top of the stand-in's driver calls.
//
// Every call that fails leaves its code behind for cudaGetLastError, on the thread that made it, as the runtime does.
#include <cstddef>
#include <cstdint>

#define TESSERA_CUDART_EXPORT extern "C" __attribute__((visibility("default")))

extern "C" {
struct CUipcMemHandle {
  char bytes[64];
};
int cuInit(unsigned flags);
int cuDeviceGetCount(int* count);
int cuDevicePrimaryCtxRetain(void** context, int device);
int cuCtxGetCurrent(void** context);
int cuCtxSetCurrent(void* context);
int cuCtxGetDevice(int* device);
int cuCtxSynchronize();
int cuMemAlloc_v2(std::uint64_t* address, std::size_t size);
int cuMemFree_v2(std::uint64_t address);
int cuMemcpy(std::uint64_t target, std::uint64_t source, std::size_t size);
int cuMemcpyHtoD_v2(std::uint64_t target, const void* source, std::size_t size);
int cuMemcpyDtoH_v2(void* target, std::uint64_t source, std::size_t size);
int cuMemcpyDtoD_v2(std::uint64_t target, std::uint64_t source, std::size_t size);
int cuIpcGetMemHandle(CUipcMemHandle* handle, std::uint64_t address);
int cuIpcOpenMemHandle_v2(std::uint64_t* address, CUipcMemHandle handle, unsigned flags);
int cuIpcCloseMemHandle(std::uint64_t address);
int cuGetErrorName(int code, const char** text);
int cuGetErrorString(int code, const char** text);
}

namespace {

constexpr int kSuccess = 0;
constexpr int kInvalidValue = 1;
constexpr int kInvalidDevice = 101;
constexpr int kInvalidMemcpyDirection = 21;
constexpr int kDeviceLimit = 16;

thread_local int last_error = kSuccess;
thread_local int chosen_device = 0;

int keep(int code) {
  if (code != kSuccess) {
    last_error = code;
  }
  return code;
}

// The runtime retains the primary context of a device once in the life of the process.
int primary_context(int device, void** context) {
  struct Place {
    int code = kInvalidDevice;
    void* context = nullptr;
  };
  static Place places[kDeviceLimit];
  static const int kReady = [] {
    int code = cuInit(0);
    int count = 0;
    if (code == kSuccess) {
      code = cuDeviceGetCount(&count);
    }
    for (int index = 0; code == kSuccess && index < count && index < kDeviceLimit; ++index) {
      places[index].code = kSuccess;
    }
    return code;
  }();
  if (kReady != kSuccess) {
    return kReady;
  }
  if (device < 0 || device >= kDeviceLimit || places[device].code != kSuccess) {
    return kInvalidDevice;
  }
  // Two threads at once retain twice: the context stays either way.
  if (__atomic_load_n(&places[device].context, __ATOMIC_ACQUIRE) == nullptr) {
    void* retained = nullptr;
    if (int code = cuDevicePrimaryCtxRetain(&retained, device); code != kSuccess) {
      return code;
    }
    __atomic_store_n(&places[device].context, retained, __ATOMIC_RELEASE);
  }
  *context = __atomic_load_n(&places[device].context, __ATOMIC_ACQUIRE);
  return kSuccess;
}

// What a call works on: the context that is current, else that of the chosen device.
int enter() {
  void* context = nullptr;
  if (cuCtxGetCurrent(&context) == kSuccess && context != nullptr) {
    return kSuccess;
  }
  int code = primary_context(chosen_device, &context);
  return code == kSuccess ? cuCtxSetCurrent(context) : code;
}

std::uint64_t number(const void* pointer) {
  return reinterpret_cast<std::uint64_t>(pointer);
}

}  // namespace

TESSERA_CUDART_EXPORT int cudaGetDeviceCount(int* count) {
  if (count == nullptr) {
    return keep(kInvalidValue);
  }
  *count = 0;
  int code = cuInit(0);
  return keep(code == kSuccess ? cuDeviceGetCount(count) : code);
}

TESSERA_CUDART_EXPORT int cudaSetDevice(int device) {
  void* context = nullptr;
  int code = primary_context(device, &context);
  if (code == kSuccess) {
    code = cuCtxSetCurrent(context);
  }
  if (code == kSuccess) {
    chosen_device = device;
  }
  return keep(code);
}

TESSERA_CUDART_EXPORT int cudaGetDevice(int* device) {
  if (device == nullptr) {
    return keep(kInvalidValue);
  }
  void* context = nullptr;
  if (int code = primary_context(chosen_device, &context); code != kSuccess) {
    return keep(code);
  }
  *device = chosen_device;
  if (cuCtxGetCurrent(&context) == kSuccess && context != nullptr) {
    return keep(cuCtxGetDevice(device));
  }
  return kSuccess;
}

TESSERA_CUDART_EXPORT int cudaMalloc(void** pointer, std::size_t size) {
  if (pointer == nullptr) {
    return keep(kInvalidValue);
  }
  *pointer = nullptr;
  if (size == 0) {
    return kSuccess;
  }
  std::uint64_t address = 0;
  int code = enter();
  if (code == kSuccess) {
    code = cuMemAlloc_v2(&address, size);
  }
  *pointer = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  return keep(code);
}

TESSERA_CUDART_EXPORT int cudaFree(void* pointer) {
  int code = enter();
  return keep(code == kSuccess && pointer != nullptr ? cuMemFree_v2(number(pointer)) : code);
}

TESSERA_CUDART_EXPORT int cudaMemcpy(void* target, const void* source, std::size_t size, int kind) {
  if (int code = enter(); code != kSuccess) {
    return keep(code);
  }
  switch (kind) {
    case 0:
      __builtin_memcpy(target, source, size);
      return kSuccess;
    case 1:
      return keep(cuMemcpyHtoD_v2(number(target), source, size));
    case 2:
      return keep(cuMemcpyDtoH_v2(target, number(source), size));
    case 3:
      return keep(cuMemcpyDtoD_v2(number(target), number(source), size));
    case 4:
      return keep(cuMemcpy(number(target), number(source), size));
    default:
      return keep(kInvalidMemcpyDirection);
  }
}

TESSERA_CUDART_EXPORT int cudaDeviceSynchronize() {
  int code = enter();
  return keep(code == kSuccess ? cuCtxSynchronize() : code);
}

TESSERA_CUDART_EXPORT int cudaIpcGetMemHandle(CUipcMemHandle* handle, void* pointer) {
  int code = enter();
  return keep(code == kSuccess ? cuIpcGetMemHandle(handle, number(pointer)) : code);
}

TESSERA_CUDART_EXPORT int cudaIpcOpenMemHandle(void** pointer, CUipcMemHandle handle, unsigned flags) {
  if (pointer == nullptr) {
    return keep(kInvalidValue);
  }
  std::uint64_t address = 0;
  int code = enter();
  if (code == kSuccess) {
    code = cuIpcOpenMemHandle_v2(&address, handle, flags);
  }
  *pointer = reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
  return keep(code);
}

TESSERA_CUDART_EXPORT int cudaIpcCloseMemHandle(void* pointer) {
  int code = enter();
  return keep(code == kSuccess ? cuIpcCloseMemHandle(number(pointer)) : code);
}

TESSERA_CUDART_EXPORT const char* cudaGetErrorString(int code) {
  const char* text = nullptr;
  return cuGetErrorString(code, &text) == kSuccess ? text : "unrecognized error code";
}

TESSERA_CUDART_EXPORT const char* cudaGetErrorName(int code) {
  const char* text = nullptr;
  return cuGetErrorName(code, &text) == kSuccess ? text : "unrecognized error code";
}

TESSERA_CUDART_EXPORT int cudaGetLastError() {
  int code = last_error;
  last_error = kSuccess;
  return code;
}

TESSERA_CUDART_EXPORT int cudaPeekAtLastError() {
  return last_error;
}
