// Opening by a name that may not lead out of a folder.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

#include "tessera/base/unique_fd.h"

namespace tessera {

/// A relative path as the folder that holds something, and its name there.
struct ParentAndName {
  std::string parent;
  std::string name;
};

/// Splits at the last slash; `a` is in `.`.
[[nodiscard]] ParentAndName split_last(const std::string& relative);

/// openat(2) of a relative path below the folder `root`, whose resolved path is `root_path`. Links are followed while
/// they stay inside. O_CLOEXEC is always set. Empty with errno set on failure; EXDEV means that the path leads out.
/// Safe to call from any thread.
[[nodiscard]] UniqueFd open_beneath(int root, const std::filesystem::path& root_path, const std::string& relative,
                                    int flags, mode_t mode);

/// The same without openat2(2), which open_beneath falls back to on old kernels and in sandboxes.
[[nodiscard]] UniqueFd open_beneath_by_resolving(int root, const std::filesystem::path& root_path,
                                                 const std::string& relative, int flags, mode_t mode);

}  // namespace tessera
