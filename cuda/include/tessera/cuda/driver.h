// The CUDA driver, found at run time: one build runs with a driver, without one, and with the link stub.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "tessera/base/result.h"

namespace tessera {

struct DriverFunctions;  // driver_functions.h

/// Why there is no CUDA here.
enum class DriverProblem {
  kNoDriver,       ///< libcuda.so.1 is not there
  kStubDriver,     ///< the toolkit's link stub is (CUDA_ERROR_STUB_LIBRARY, 34)
  kNoDevice,       ///< no GPU, or none visible (100, 101)
  kDriverTooOld,   ///< older than kOldestDriverVersion, or than its kernel module (35, 803)
  kSymbolMissing,  ///< a call that tessera needs is not in it
  kNoPermission,   ///< /dev/nvidia* cannot be opened, or the like (800, 999 without access)
  kFailed,         ///< cuInit fails otherwise
};
/// "no_driver", "stub_driver", …: the reason codes of logs and of `GET /gpu`.
[[nodiscard]] std::string_view name_of(DriverProblem problem);

struct DriverUnavailable {
  DriverProblem problem = DriverProblem::kFailed;
  int code = 0;          ///< the CUresult, 0 if no call was made
  std::string sentence;  ///< what is wrong, and what the user can do about it
};

/// The driver's calls, after cuInit. Immutable; safe to use from any thread. Lives for the rest of the process once it
/// is loaded: the driver has threads of its own.
class Driver {
 public:
  /// The first driver with all calls and rules that tessera relies on: CUDA 11.4 (cuDeviceGetUuid_v2).
  static constexpr int kOldestVersion = 11040;

  /// Loads libcuda.so.1, or another name or path, and initialises it.
  [[nodiscard]] static std::variant<std::shared_ptr<const Driver>, DriverUnavailable> load(
      const std::string& library = "libcuda.so.1");

  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;
  virtual ~Driver() = default;

  /// As cuDriverGetVersion gives it: 13000 is CUDA 13.0.
  [[nodiscard]] virtual int version() const = 0;
  /// The path of the library that the loader found.
  [[nodiscard]] virtual const std::string& library_path() const = 0;
  [[nodiscard]] virtual const DriverFunctions& functions() const = 0;
  /// An Error for what a call returned: "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2)", native_code() the number.
  [[nodiscard]] virtual Error error_of(std::string_view call, int result) const = 0;

 protected:
  Driver() = default;
};

}  // namespace tessera
