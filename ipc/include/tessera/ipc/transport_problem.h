// Why a GPU transport does not work: a code for programs, and one sentence that tells the user what to do.
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// One for each way to fail that asks for another remedy.
enum class TransportReason {
  kNoDriver,    ///< libcuda.so.1 is not there: no driver, or a container without --gpus
  kStubDriver,  ///< the toolkit's link stub stands in front of the driver
  kNoDevice,    ///< no GPU is visible
  kDriverTooOld,
  kSymbolMissing,
  kNoPermission,
  kDriverFailed,    ///< cuInit fails, and nothing tells why
  kIpcUnsupported,  ///< WSL 2, Tegra and the like
  kProhibitedMode,  ///< compute mode prohibited or exclusive
  kPidCollision,    ///< both processes have the same number, in different PID namespaces (error 201)
  kOtherHost,       ///< the peer's boot id is another one
  kOtherGpu,        ///< the array is on a GPU that this process does not see
  kMigInstance,     ///< it is on another instance of a GPU that is divided
  kNoPeerAccess,    ///< the handle leads to memory that cannot be reached from here (217)
  kHandleInvalid,   ///< no such allocation, or none any more (1, 400)
  kMapFailed,       ///< the driver cannot map it (205)
  kOutOfMemory,
  kWrongBytes,  ///< what arrived is not what was sent
  kNotOffered,  ///< the other side does not offer the transport
  kForked,      ///< this process was forked from one that used CUDA, and cannot use it (3)
  kCudaFailed,  ///< another error of CUDA
};
/// "no_driver", "pid_collision", …
[[nodiscard]] std::string_view name_of(TransportReason reason);

/// A plain value.
struct TransportProblem {
  TransportReason reason = TransportReason::kCudaFailed;
  std::string sentence;  ///< what is wrong, then what to do; lower case, no full stop
};

/// For people: "<sentence> (<reason>)".
[[nodiscard]] std::string text_of(const TransportProblem& problem);

/// The problem with the sentence that the table has for its reason, which `detail` (a few words, or an error's message)
/// begins.
[[nodiscard]] TransportProblem make_problem(TransportReason reason, std::string_view detail = {});

}  // namespace tessera
