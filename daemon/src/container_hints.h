// What a container may lack for CUDA IPC with its neighbours.
#pragma once

#include <string>
#include <vector>

namespace tessera {

/// Sentences, each with what to do; empty outside of containers and where nothing is amiss. `has_gpu`: a GPU is there.
[[nodiscard]] std::vector<std::string> container_hints(bool has_gpu);

}  // namespace tessera
