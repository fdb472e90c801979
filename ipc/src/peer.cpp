#include "tessera/ipc/peer.h"

#include <sys/stat.h>
#include <unistd.h>

#include "tessera/base/file.h"

namespace tessera {

Peer Peer::self() {
  Peer peer;
  peer.pid = ::getpid();
  struct stat status{};
  if (::stat("/proc/self/ns/pid", &status) == 0) {
    peer.pid_namespace = status.st_ino;
  }
  constexpr std::uint64_t kLimitBytes = 4096;
  if (Result<std::string> boot_id = read_file("/proc/sys/kernel/random/boot_id", kLimitBytes); boot_id.has_value()) {
    peer.boot_id = boot_id->substr(0, boot_id->find('\n'));
  }
  return peer;
}

std::optional<TransportProblem> find_obstacle(const Peer& self, const Peer& other) {
  if (!self.boot_id.empty() && !other.boot_id.empty() && self.boot_id != other.boot_id) {
    return make_problem(TransportReason::kOtherHost);
  }
  const bool are_namespaces_known = self.pid_namespace != 0 && other.pid_namespace != 0;
  if (are_namespaces_known && self.pid_namespace != other.pid_namespace && self.pid != 0 && self.pid == other.pid) {
    return make_problem(TransportReason::kPidCollision, "both processes are number " + std::to_string(self.pid));
  }
  return std::nullopt;
}

}  // namespace tessera
