// How much memory this process may use.
#pragma once

#include <cstdint>
#include <filesystem>

namespace tessera {

/// The machine's memory, or less if a control group (v2 or v1) that this process is in allows less. Read from the files
/// below `root` ("/", another one in tests), without which it is what the system says. Safe to call from any thread.
[[nodiscard]] std::uint64_t usable_memory_bytes(const std::filesystem::path& root = "/");

}  // namespace tessera
