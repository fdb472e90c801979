// Loading a module in a process of its own: the code of a module runs when it is loaded, and it may do anything.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>

#include "tessera/base/result.h"

namespace tessera {

/// What a module says of itself.
struct ModuleSummary {
  std::string name;
  std::string description;  ///< of the Tesseract, or else of its apply
};

/// Loads it in a child process, which gets so long. What it prints goes to standard error. Errors: as
/// load_module(); kDeadlineExceeded; kInternal if the child was ended by a signal or by itself. Requires: this process
/// has one thread.
[[nodiscard]] Result<ModuleSummary> probe_module(const std::filesystem::path& path, std::chrono::seconds time);

}  // namespace tessera
