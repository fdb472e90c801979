#include "container_hints.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "tessera/base/container.h"

namespace tessera {
namespace {

// The inodes of the host's first namespaces, which are the same on every Linux (include/linux/proc_ns.h).
constexpr std::uint64_t kHostIpcNamespace = 0xEFFFFFFF;
constexpr std::uint64_t kHostPidNamespace = 0xEFFFFFFC;

bool is_reachable(const std::filesystem::path& path) {
  return ::access(path.c_str(), F_OK) == 0;
}

std::uint64_t inode_of(const std::filesystem::path& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

}  // namespace

std::vector<std::string> container_hints(bool has_gpu, const std::filesystem::path& root) {
  std::vector<std::string> hints;
  if (!is_in_container(root)) {
    return hints;
  }
  if (!has_gpu && !is_reachable(root / "dev/nvidiactl") && !is_reachable(root / "dev/dxg")) {
    hints.emplace_back("this container has no GPU device: start it with --gpus all");
  }
  if (inode_of(root / "proc/self/ns/pid") != kHostPidNamespace) {
    hints.emplace_back(
        "the process numbers of this container are its own, and the driver refuses a client with the same number (this "
        "is " +
        std::to_string(::getpid()) +
        "): start it with --pid=host (hostPID in Kubernetes), or client and server with one PID namespace");
  }
  if (inode_of(root / "proc/self/ns/ipc") != kHostIpcNamespace) {
    hints.emplace_back(
        "the IPC namespace of this container is its own: for clients outside of it, start it with --ipc=host "
        "(hostIPC)");
  }
  return hints;
}

}  // namespace tessera
