#include "container_hints.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

namespace tessera {
namespace {

// The inodes of the host's first namespaces, which are the same on every Linux (include/linux/proc_ns.h).
constexpr std::uint64_t kHostIpcNamespace = 0xEFFFFFFF;
constexpr std::uint64_t kHostPidNamespace = 0xEFFFFFFC;

bool exists(const char* path) {
  return ::access(path, F_OK) == 0;
}

std::uint64_t inode_of(const char* path) {
  struct stat status{};
  return ::stat(path, &status) == 0 ? status.st_ino : 0;
}

bool is_in_container() {
  return exists("/.dockerenv") || exists("/run/.containerenv");
}

}  // namespace

std::vector<std::string> container_hints(bool has_gpu) {
  std::vector<std::string> hints;
  if (!is_in_container()) {
    return hints;
  }
  if (!has_gpu && !exists("/dev/nvidiactl") && !exists("/dev/dxg")) {
    hints.emplace_back("this container has no GPU device: start it with --gpus all");
  }
  if (inode_of("/proc/self/ns/pid") != kHostPidNamespace) {
    hints.emplace_back(
        "the process numbers of this container are its own, and the driver refuses a client with the same number (this "
        "is " +
        std::to_string(::getpid()) +
        "): start it with --pid=host, or client and server with one PID "
        "namespace");
  }
  if (inode_of("/proc/self/ns/ipc") != kHostIpcNamespace) {
    hints.emplace_back(
        "the IPC namespace of this container is its own: for clients outside of it, start it with --ipc=host");
  }
  return hints;
}

}  // namespace tessera
