// What a container may lack for CUDA IPC with its neighbours.
#pragma once

#include <string>
#include <vector>

namespace tessera {

/// Sentences for the log, each with what to do; empty outside of containers and where nothing is amiss.
[[nodiscard]] std::vector<std::string> container_hints();

}  // namespace tessera
