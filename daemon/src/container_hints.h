// What a container may lack for CUDA IPC with its neighbours.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tessera {

/// Sentences, each with what to do; empty outside of containers and where nothing is amiss. `has_gpu`: a GPU is there.
/// Looks below `root` (another one in tests).
[[nodiscard]] std::vector<std::string> container_hints(bool has_gpu, const std::filesystem::path& root = "/");

}  // namespace tessera
