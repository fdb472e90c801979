// What the machine says about its GPU driver without being asked through it: why there is none, and what helps.
#pragma once

#include <filesystem>
#include <string>

#include "tessera/cuda/driver.h"

namespace tessera {

/// What was seen in /dev, /proc and the environment. A plain value.
struct MachineHints {
  bool is_container = false;
  bool has_kernel_module = false;    ///< /proc/driver/nvidia/version
  bool has_device_files = false;     ///< /dev/nvidiactl or the like
  std::string closed_device_file;    ///< the first of them that this user may not open
  bool is_wsl = false;               ///< /dev/dxg
  std::string visible_devices;       ///< CUDA_VISIBLE_DEVICES
  bool has_visible_devices = false;  ///< it is set, perhaps to nothing
  std::string user_text;             ///< "user id 1000"
};

/// Looks below `root` ("/", another one in tests).
[[nodiscard]] MachineHints look_at_machine(const std::filesystem::path& root);

/// Which problem it is that cuInit answered with `code`.
[[nodiscard]] DriverProblem problem_of(int code, const MachineHints& hints);
/// What is wrong and what to do, for a problem with a code (0: no call was made) and its detail, a few words.
[[nodiscard]] std::string sentence_for(DriverProblem problem, int code, const std::string& detail,
                                       const MachineHints& hints);

}  // namespace tessera
