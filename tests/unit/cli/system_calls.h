// Counts the system calls of another process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace tessera::testing {

/// Runs `work` while the system calls of a child process of this one are counted, by name or number, on all its threads
/// (ptrace(2)). Nothing if this machine does not allow that.
[[nodiscard]] std::optional<std::map<std::string, int>> count_system_calls(pid_t process,
                                                                           const std::function<void()>& work);

}  // namespace tessera::testing
