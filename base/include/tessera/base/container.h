// Whether this process runs in a container, as far as one can tell from within.
#pragma once

#include <filesystem>

namespace tessera {

/// Docker, Podman or Kubernetes, by the files that they leave below `root` ("/", another one in tests).
[[nodiscard]] bool is_in_container(const std::filesystem::path& root);

}  // namespace tessera
