#include "explain.h"

#include <sys/utsname.h>

#include <algorithm>
#include <string>

#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

bool is_wsl() {
  utsname system{};
  if (::uname(&system) != 0) {
    return false;
  }
  const std::string_view release(system.release);
  return release.find("microsoft") != std::string_view::npos || release.find("WSL") != std::string_view::npos;
}

// Older drivers do not know the attribute, so that its absence alone says nothing.
bool has_no_ipc(const Gpu& gpu) {
  return !gpu.attributes().has_ipc_events && (gpu.attributes().is_integrated || is_wsl());
}

bool is_mig(const Gpu& gpu) {
  return gpu.name().find("MIG") != std::string::npos;
}

template <class Predicate>
bool all_gpus(const GpuSystem& gpus, Predicate predicate) {
  return std::ranges::all_of(gpus.gpus(), [&predicate](const auto& gpu) { return predicate(*gpu); });
}

TransportReason reason_of_code(int code, const GpuSystem& gpus) {
  switch (code) {
    case kCudaNotInitialized:
      return TransportReason::kForked;
    case kCudaInvalidContext:
      return TransportReason::kPidCollision;
    case kCudaMapFailed:
    case kCudaAlreadyMapped:
      return TransportReason::kMapFailed;
    case kCudaPeerAccessUnsupported:
    case kCudaTooManyPeers:
      return TransportReason::kNoPeerAccess;
    case kCudaInvalidValue:
    case kCudaInvalidHandle:
      return all_gpus(gpus, has_no_ipc) ? TransportReason::kIpcUnsupported : TransportReason::kHandleInvalid;
    case kCudaOutOfMemory:
      return TransportReason::kOutOfMemory;
    case kCudaNotSupported:
      return TransportReason::kIpcUnsupported;
    case kCudaNotPermitted:
      return TransportReason::kNoPermission;
    case kCudaDeviceUnavailable:
      return TransportReason::kProhibitedMode;
    case kCudaUnknown:
      return std::ranges::any_of(
                 gpus.gpus(),
                 [](const auto& gpu) { return gpu->attributes().is_prohibited || gpu->attributes().is_exclusive; })
                 ? TransportReason::kProhibitedMode
                 : TransportReason::kCudaFailed;
    default:
      return TransportReason::kCudaFailed;
  }
}

TransportReason reason_without_code(const Error& error, const GpuSystem& gpus) {
  if (error.message() == kServerBytesDiffer || error.message() == kClientBytesDiffer) {
    return TransportReason::kWrongBytes;
  }
  switch (error.code()) {
    case ErrorCode::kNotFound:
      return std::ranges::any_of(gpus.gpus(), [](const auto& gpu) { return is_mig(*gpu); })
                 ? TransportReason::kMigInstance
                 : TransportReason::kOtherGpu;
    case ErrorCode::kInvalidArgument:
      return TransportReason::kHandleInvalid;
    case ErrorCode::kOutOfMemory:
      return TransportReason::kOutOfMemory;
    default:
      return TransportReason::kCudaFailed;
  }
}

}  // namespace

std::optional<TransportProblem> find_platform_problem(const GpuSystem& gpus) {
  if (gpus.gpus().empty()) {
    return std::nullopt;
  }
  if (all_gpus(gpus, has_no_ipc)) {
    return make_problem(TransportReason::kIpcUnsupported);
  }
  // MPS is the one process that an exclusive GPU lets in, for all its clients.
  if (all_gpus(gpus, [](const Gpu& gpu) {
        return gpu.attributes().is_prohibited || (gpu.attributes().is_exclusive && !gpu.attributes().is_mps);
      })) {
    return make_problem(TransportReason::kProhibitedMode);
  }
  return std::nullopt;
}

TransportProblem explain_error(const Error& error, const GpuSystem& gpus) {
  if (const std::optional<TransportProblem>& problem = gpus.problem(); problem && gpus.gpus().empty()) {
    return *problem;
  }
  const TransportReason reason =
      error.native_code() != 0 ? reason_of_code(error.native_code(), gpus) : reason_without_code(error, gpus);
  return make_problem(reason, error.message());
}

}  // namespace tessera
