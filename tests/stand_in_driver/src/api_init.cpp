// cuInit, versions, errors.
#include "driver.h"

namespace tessera::stand_in {
namespace {

struct ErrorText {
  int code;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrorTexts[] = {
    {0, "CUDA_SUCCESS", "no error"},
    {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {4, "CUDA_ERROR_DEINITIALIZED", "driver shutting down"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {35, "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER", "API call requires a newer CUDA driver"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {205, "CUDA_ERROR_MAP_FAILED", "mapping of buffer object failed"},
    {208, "CUDA_ERROR_ALREADY_MAPPED", "resource already mapped"},
    {217, "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported between these two devices"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {711, "CUDA_ERROR_TOO_MANY_PEERS", "peer mapping resources exhausted"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {800, "CUDA_ERROR_NOT_PERMITTED", "operation not permitted"},
    {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* find_text(int code) {
  for (const ErrorText& entry : kErrorTexts) {
    if (entry.code == code) {
      return &entry;
    }
  }
  return nullptr;
}

}  // namespace

TESSERA_STAND_IN_EXPORT int cuInit(unsigned flags) {
  return call(Function::cuInit, Needs::kNothing, [&](Driver& driver) -> Result {
    if (flags != 0 && !driver.breaks(Mutation::init_takes_flags)) {
      return kInvalidValue;
    }
    return driver.initialize();
  });
}

TESSERA_STAND_IN_EXPORT int cuDriverGetVersion(int* version) {
  return call(Function::cuDriverGetVersion, Needs::kNothing, [&](Driver& driver) -> Result {
    if (version == nullptr) {
      return kInvalidValue;
    }
    *version = driver.knobs.version;
    return kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuGetErrorName(int code, const char** text) {
  return call(Function::cuGetErrorName, Needs::kNothing, [&](Driver&) -> Result {
    const ErrorText* found = find_text(code);
    if (text != nullptr) {
      *text = found == nullptr ? nullptr : found->name;
    }
    return found == nullptr || text == nullptr ? kInvalidValue : kSuccess;
  });
}

TESSERA_STAND_IN_EXPORT int cuGetErrorString(int code, const char** text) {
  return call(Function::cuGetErrorString, Needs::kNothing, [&](Driver&) -> Result {
    const ErrorText* found = find_text(code);
    if (text != nullptr) {
      *text = found == nullptr ? nullptr : found->text;
    }
    return found == nullptr || text == nullptr ? kInvalidValue : kSuccess;
  });
}

}  // namespace tessera::stand_in
