#include "tessera/cuda/driver.h"

#include <dlfcn.h>

#include <utility>

#include "machine_hints.h"
#include "tessera/base/library.h"
#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

class LoadedDriver final : public Driver {
 public:
  LoadedDriver(const DriverFunctions& functions, int version, std::string path)
      : functions_(functions), version_(version), path_(std::move(path)) {}

  [[nodiscard]] int version() const override { return version_; }
  [[nodiscard]] const std::string& library_path() const override { return path_; }
  [[nodiscard]] const DriverFunctions& functions() const override { return functions_; }
  [[nodiscard]] Error error_of(std::string_view call, int result) const override;

 private:
  DriverFunctions functions_;
  int version_;
  std::string path_;
};

ErrorCode code_of(int result) {
  switch (result) {
    case kCudaInvalidValue:
    case kCudaInvalidHandle:
    case kCudaNotSupported:
      return ErrorCode::kInvalidArgument;
    case kCudaOutOfMemory:
      return ErrorCode::kOutOfMemory;
    case kCudaNotInitialized:
    case kCudaDeinitialized:
    case kCudaStubLibrary:
    case kCudaInsufficientDriver:
    case kCudaDeviceUnavailable:
    case kCudaNoDevice:
    case kCudaInvalidDevice:
    case kCudaSystemNotReady:
    case kCudaDriverMismatch:
      return ErrorCode::kUnavailable;
    default:
      return ErrorCode::kInternal;
  }
}

std::string name_of_result(const DriverFunctions& functions, int result) {
  const char* name = nullptr;
  if (functions.get_error_name == nullptr || functions.get_error_name(result, &name) != kCudaSuccess ||
      name == nullptr) {
    return "error " + std::to_string(result);
  }
  return std::string(name) + " (" + std::to_string(result) + ")";
}

std::string failure_text(const DriverFunctions& functions, std::string_view call, int result) {
  return std::string(call) + " failed: " + name_of_result(functions, result);
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

// Fills the table; returns the first symbol that is not there, or nothing.
std::string find_functions(const Library& library, DriverFunctions& functions) {
  std::string missing;
#define TESSERA_CUDA_FIND(field, symbol, ...)                                                  \
  functions.field = reinterpret_cast<decltype(functions.field)>(library.find_symbol(#symbol)); \
  if (functions.field == nullptr && missing.empty()) {                                         \
    missing = #symbol;                                                                         \
  }
  TESSERA_CUDA_FUNCTIONS(TESSERA_CUDA_FIND)
#undef TESSERA_CUDA_FIND
#define TESSERA_CUDA_FIND(field, symbol, ...) \
  functions.field = reinterpret_cast<decltype(functions.field)>(library.find_symbol(#symbol));
  TESSERA_CUDA_KERNEL_FUNCTIONS(TESSERA_CUDA_FIND)
#undef TESSERA_CUDA_FIND
  return missing;
}

// The driver has threads and handlers at exit: it is never unloaded.
void keep_loaded(const std::string& path) {
  if (!path.empty()) {
    ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD | RTLD_NODELETE);
  }
}

DriverUnavailable unavailable(DriverProblem problem, int code, const std::string& detail, const MachineHints& hints) {
  return {problem, code, sentence_for(problem, code, detail, hints)};
}

}  // namespace

Error LoadedDriver::error_of(std::string_view call, int result) const {
  return {code_of(result), failure_text(functions_, call, result), result};
}

std::string_view name_of(DriverProblem problem) {
  switch (problem) {
    case DriverProblem::kNoDriver:
      return "no_driver";
    case DriverProblem::kStubDriver:
      return "stub_driver";
    case DriverProblem::kNoDevice:
      return "no_device";
    case DriverProblem::kDriverTooOld:
      return "driver_too_old";
    case DriverProblem::kSymbolMissing:
      return "symbol_missing";
    case DriverProblem::kNoPermission:
      return "no_permission";
    case DriverProblem::kFailed:
      return "driver_failed";
  }
  return "driver_failed";
}

std::variant<std::shared_ptr<const Driver>, DriverUnavailable> Driver::load(const std::string& library) {
  const MachineHints hints = look_at_machine("/");
  Result<Library> opened = Library::open(library);
  if (!opened) {
    const std::string detail = opened.error().code() == ErrorCode::kNotFound
                                   ? library + " is not on this machine"
                                   : library + " cannot be loaded: " + opened.error().message();
    return unavailable(DriverProblem::kNoDriver, 0, detail, hints);
  }
  const std::string path = opened->path().string();
  DriverFunctions functions;
  const std::string missing = find_functions(*opened, functions);
  if (functions.init == nullptr || functions.driver_get_version == nullptr) {
    return unavailable(DriverProblem::kSymbolMissing, 0, path + " is no CUDA driver, it has no " + missing, hints);
  }
  keep_loaded(path);
  if (const int result = functions.init(0); result != kCudaSuccess) {
    const DriverProblem problem = problem_of(result, hints);
    const std::string detail = problem == DriverProblem::kStubDriver ? path : failure_text(functions, "cuInit", result);
    return unavailable(problem, result, detail, hints);
  }
  int version = 0;
  if (const int result = functions.driver_get_version(&version); result != kCudaSuccess) {
    return unavailable(DriverProblem::kFailed, result, failure_text(functions, "cuDriverGetVersion", result), hints);
  }
  if (version < kOldestVersion) {
    return unavailable(DriverProblem::kDriverTooOld, 0, "the driver is one for CUDA " + version_text(version), hints);
  }
  if (!missing.empty()) {
    return unavailable(DriverProblem::kSymbolMissing, 0, "the driver " + path + " has no " + missing, hints);
  }
  return std::make_shared<const LoadedDriver>(functions, version, path);
}

}  // namespace tessera
