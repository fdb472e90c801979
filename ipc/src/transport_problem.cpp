#include "tessera/ipc/transport_problem.h"

#include <array>

namespace tessera {
namespace {

struct Row {
  TransportReason reason;
  std::string_view name;
  std::string_view sentence;
};

// What each reason means and what helps. In the order of the enumeration.
constexpr std::array<Row, 21> kRows = {{
    {TransportReason::kNoDriver, "no_driver",
     "there is no NVIDIA driver here: install it, or start the container with --gpus"},
    {TransportReason::kStubDriver, "stub_driver",
     "the CUDA toolkit's link stub stands before the driver: take the folder `stubs` out of LD_LIBRARY_PATH"},
    {TransportReason::kNoDevice, "no_device",
     "no GPU is visible: see CUDA_VISIBLE_DEVICES, and --gpus of the container"},
    {TransportReason::kDriverTooOld, "driver_too_old", "the NVIDIA driver is too old: update it to 470 or newer"},
    {TransportReason::kSymbolMissing, "symbol_missing", "the NVIDIA driver lacks a call that is needed: update it"},
    {TransportReason::kNoPermission, "no_permission",
     "this user may not open the GPU: check the permissions of /dev/nvidia* and the device rules of the container"},
    {TransportReason::kDriverFailed, "driver_failed",
     "the NVIDIA driver does not start: see whether nvidia-smi works here, and the kernel's log"},
    {TransportReason::kIpcUnsupported, "ipc_unsupported",
     "this platform has no CUDA IPC (WSL 2 and Tegra do not): arrays have to go through the host"},
    {TransportReason::kProhibitedMode, "prohibited_mode",
     "the GPU's compute mode lets no second process in: set it by nvidia-smi -c DEFAULT"},
    {TransportReason::kPidCollision, "pid_collision",
     "this process and the other one have the same process number, as in two containers that both count from 1, and "
     "CUDA "
     "IPC takes them for one: start the containers with --pid=host or one PID namespace, or one of them so that its "
     "number "
     "differs"},
    {TransportReason::kOtherHost, "other_host",
     "the other process runs on another host, where GPU memory cannot be mapped: let arrays go through the host"},
    {TransportReason::kOtherGpu, "other_gpu",
     "the array is on a GPU that this process does not see: give both processes the same GPUs (--gpus, "
     "CUDA_VISIBLE_DEVICES)"},
    {TransportReason::kMigInstance, "mig_instance",
     "the array is on another instance of a GPU that is divided (MIG), and memory does not cross between them: give "
     "both "
     "processes the same instance"},
    {TransportReason::kNoPeerAccess, "no_peer_access",
     "the GPUs of the two processes cannot reach each other's memory: use the same GPU in both"},
    {TransportReason::kHandleInvalid, "handle_invalid",
     "the handle names no memory that can be opened: the sender must keep the array until the receiver has answered, "
     "and "
     "both need the same driver"},
    {TransportReason::kMapFailed, "map_failed",
     "the driver cannot map the other process's memory: give the containers --ipc=host and the same GPUs, and restart "
     "both processes if it stays so"},
    {TransportReason::kOutOfMemory, "out_of_memory",
     "the GPU has no memory left: release arrays, or lower the share that is kept for reuse"},
    {TransportReason::kWrongBytes, "wrong_bytes",
     "the bytes that arrive are not those that were sent: the sender has to finish writing, and keep the memory, "
     "before it "
     "sends"},
    {TransportReason::kNotOffered, "not_offered", "the other side does not offer the transport: enable it there"},
    {TransportReason::kForked, "forked",
     "this process was forked from one that had started CUDA, which does not work in it: start it by exec (in Python: "
     "multiprocessing's start method spawn), or fork before GPU arrays are used"},
    {TransportReason::kCudaFailed, "cuda_failed", "CUDA failed: see the kernel's log for Xid messages"},
}};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i != kRows.size(); ++i) {
    if (kRows.at(i).reason != static_cast<TransportReason>(i)) {
      return false;
    }
  }
  return kRows.back().reason == TransportReason::kCudaFailed;
}
static_assert(is_in_order());

const Row& row_of(TransportReason reason) {
  const auto index = static_cast<std::size_t>(reason);
  return index < kRows.size() ? kRows.at(index) : kRows.back();
}

}  // namespace

std::string_view name_of(TransportReason reason) {
  return row_of(reason).name;
}

std::string text_of(const TransportProblem& problem) {
  return problem.sentence + " (" + std::string(name_of(problem.reason)) + ")";
}

TransportProblem make_problem(TransportReason reason, std::string_view detail) {
  std::string sentence(detail);
  if (!sentence.empty()) {
    sentence += "; ";
  }
  return {reason, sentence.append(row_of(reason).sentence)};
}

}  // namespace tessera
