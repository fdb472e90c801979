// Who a process is to the others of its host: what decides whether CUDA IPC can work between two of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/ipc/transport_problem.h"

namespace tessera {

/// Our clients send it with the check, under the key `peer`; the Python runtime ignores it. A plain value.
struct Peer {
  std::int64_t pid = 0;             ///< as its own namespace numbers it, which is what the driver compares
  std::uint64_t pid_namespace = 0;  ///< inode of /proc/self/ns/pid; 0 if it cannot be read
  std::string boot_id;              ///< /proc/sys/kernel/random/boot_id; empty if it cannot be read

  /// This process. Reads /proc anew: a process may have been forked. Safe to call from any thread.
  [[nodiscard]] static Peer self();
  friend bool operator==(const Peer&, const Peer&) = default;
};

/// Why two processes cannot hand GPU memory over to each other, if that can be said before it is tried: other hosts, or
/// equal numbers in different namespaces. Unknown fields count as equal. Safe to call from any thread.
[[nodiscard]] std::optional<TransportProblem> find_obstacle(const Peer& self, const Peer& other);

}  // namespace tessera
