#include "machine_hints.h"

#include <unistd.h>

#include <cstdlib>
#include <system_error>
#include <vector>

#include "tessera/base/container.h"
#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// "nvidiactl", "nvidia-uvm", "nvidia0": what cuInit opens. Others (nvidia-modeset, nvidia-caps) may stay closed.
bool is_device_file(const std::string& name) {
  constexpr std::string_view kPrefix = "nvidia";
  if (!name.starts_with(kPrefix)) {
    return false;
  }
  const std::string rest = name.substr(kPrefix.size());
  return rest == "ctl" || rest == "-uvm" ||
         (!rest.empty() && rest.find_first_not_of("0123456789") == std::string::npos);
}

void look_at_device_files(const fs::path& folder, MachineHints& hints) {
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    if (!is_device_file(entry->path().filename().string())) {
      continue;
    }
    hints.has_device_files = true;
    const std::string path = entry->path().string();
    if (hints.closed_device_file.empty() && ::access(path.c_str(), R_OK | W_OK) != 0) {
      hints.closed_device_file = path;
    }
  }
}

std::string no_driver_sentence(const std::string& detail, const MachineHints& hints) {
  const std::string what = detail + "; ";
  if (hints.is_container) {
    return what + (hints.has_kernel_module
                       ? "the host has a driver that this container was not given: start it with --gpus all (NVIDIA "
                         "Container Toolkit) and with `compute` in NVIDIA_DRIVER_CAPABILITIES"
                       : "start the container with --gpus all on a host that has the NVIDIA driver and the NVIDIA "
                         "Container Toolkit");
  }
  if (hints.has_kernel_module) {
    return what +
           "the driver's kernel module is loaded, so install its user library (libcuda1 or "
           "nvidia-driver-cuda) in the same version";
  }
  return what + "install the NVIDIA driver to use GPUs";
}

std::string no_device_sentence(const MachineHints& hints) {
  if (hints.has_visible_devices) {
    return "the driver shows no GPU because CUDA_VISIBLE_DEVICES is '" + hints.visible_devices +
           "': name a GPU of this machine there, or unset it";
  }
  if (hints.is_container && !hints.has_device_files) {
    return "the driver's library is here but no GPU is: start the container with --gpus all";
  }
  if (!hints.has_kernel_module && !hints.is_wsl) {
    return "the driver's library is here but no GPU is, since its kernel module is not loaded: load it (modprobe "
           "nvidia), or install the driver for this kernel";
  }
  return "the driver finds no GPU: see what `nvidia-smi -L` lists";
}

std::string no_permission_sentence(const MachineHints& hints) {
  if (!hints.closed_device_file.empty()) {
    return hints.closed_device_file + " cannot be opened by " + hints.user_text +
           ": add the user to the group that owns it, or pass the device through to the container";
  }
  return "the driver does not permit this process to use a GPU: check the permissions of /dev/nvidia* and the "
         "device rules of the container";
}

std::string failed_sentence(int code, const std::string& detail, const MachineHints& hints) {
  switch (code) {
    case kCudaNotInitialized:
      return detail + "; the process was forked from one that had initialised CUDA: start it by exec instead";
    case kCudaSystemNotReady:
      return detail + "; the GPUs are not ready yet: start the service nvidia-fabricmanager and wait for it";
    case kCudaUnknown:
      return detail + (hints.has_device_files
                           ? "; often /dev/nvidia-uvm is missing or the GPU has failed: run nvidia-modprobe -u, and "
                             "see the kernel's log for Xid"
                           : "; there is no /dev/nvidia* here: run nvidia-modprobe, or pass the devices through");
    default:
      return detail + "; see whether nvidia-smi works here, and the kernel's log";
  }
}

}  // namespace

MachineHints look_at_machine(const fs::path& root) {
  MachineHints hints;
  hints.is_container = is_in_container(root);
  hints.has_kernel_module = is_there(root / "proc/driver/nvidia/version");
  hints.is_wsl = is_there(root / "dev/dxg");
  look_at_device_files(root / "dev", hints);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here sets the environment
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES"); visible != nullptr) {
    hints.has_visible_devices = true;
    hints.visible_devices = visible;
  }
  hints.user_text = "user id " + std::to_string(::geteuid());
  return hints;
}

DriverProblem problem_of(int code, const MachineHints& hints) {
  const bool is_closed = !hints.closed_device_file.empty();
  switch (code) {
    case kCudaStubLibrary:
      return DriverProblem::kStubDriver;
    case kCudaNoDevice:
    case kCudaInvalidDevice:
      // The driver does not count the GPUs whose files it cannot open.
      return is_closed && !hints.has_visible_devices ? DriverProblem::kNoPermission : DriverProblem::kNoDevice;
    case kCudaInsufficientDriver:
    case kCudaDriverMismatch:
    case kCudaCompatNotSupported:
      return DriverProblem::kDriverTooOld;
    case kCudaNotPermitted:
      return DriverProblem::kNoPermission;
    case kCudaOperatingSystem:
    case kCudaUnknown:
      return is_closed ? DriverProblem::kNoPermission : DriverProblem::kFailed;
    default:
      return DriverProblem::kFailed;
  }
}

std::string sentence_for(DriverProblem problem, int code, const std::string& detail, const MachineHints& hints) {
  switch (problem) {
    case DriverProblem::kNoDriver:
      return no_driver_sentence(detail, hints);
    case DriverProblem::kStubDriver:
      return detail +
             " is the link stub of the CUDA toolkit, which cannot run anything: take the folder `stubs` out of "
             "LD_LIBRARY_PATH so that the driver's own libcuda.so.1 is found";
    case DriverProblem::kNoDevice:
      return no_device_sentence(hints);
    case DriverProblem::kDriverTooOld:
      return detail + ": " +
             (code == kCudaDriverMismatch
                  ? "the driver's library and its kernel module have different versions; reboot, or reload the module"
                  : "update the NVIDIA driver to one for CUDA 11.4 or newer (470 or newer)");
    case DriverProblem::kSymbolMissing:
      return detail + ": update the NVIDIA driver";
    case DriverProblem::kNoPermission:
      return no_permission_sentence(hints);
    case DriverProblem::kFailed:
      break;
  }
  return failed_sentence(code, detail, hints);
}

}  // namespace tessera
