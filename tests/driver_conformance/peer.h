// A second process with a driver of its own, which does what the test tells it to.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "driver_table.h"

namespace tessera::driver_conformance {

enum class Order : int {
  kPid,
  kInit,
  kDeviceCount,
  kUuid,
  kSetDevice,      ///< retains the primary context of device a, makes it current
  kReleaseDevice,  ///< releases it again
  kRetainAgain,    ///< retains it, and makes it current once more
  kAllocate,       ///< a bytes
  kFree,
  kFill,    ///< a: address, b: value, c: bytes
  kRead,    ///< 64 bytes at a
  kExport,  ///< a: address
  kOpen,    ///< handle
  kClose,
  kRange,           ///< of a
  kOpenEvent,       ///< handle
  kCopyAfterEvent,  ///< a: event, b: target, c: source, d: bytes; on a stream that waits for the event
  kCreateVirtual,   ///< a bytes, b: filled with; gives the descriptor
  kUseWithoutAccess,
  kWriteReadOnly,
};

struct Request {
  Order order = Order::kPid;
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  std::uint64_t c = 0;
  std::uint64_t d = 0;
  Bytes64 bytes{};
};

struct Reply {
  Code code = 0;
  std::uint64_t value = 0;
  std::uint64_t other = 0;
  Bytes64 bytes{};
  int fd = -1;  ///< the receiver owns it
};

/// Move-only owner of the process: killed with it. One thread at a time.
class Peer {
 public:
  struct Options {
    std::vector<std::string> environment;  ///< "NAME=value", added
    bool has_own_pid_namespace = false;
  };

  Peer() : Peer(Options()) {}
  explicit Peer(const Options& options);
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;
  ~Peer();

  /// Whether it could be started; a namespace may not be allowed.
  [[nodiscard]] bool is_running() const { return socket_ >= 0; }
  /// Code -1: it has ended.
  Reply ask(const Request& request) const;  // NOLINT(modernize-use-nodiscard): some orders only have an effect
  /// cuInit, and the primary context of a device.
  [[nodiscard]] Code start(int device = 0) const;
  /// SIGKILL, and waits until it is gone.
  void kill();

 private:
  int pid_ = -1;
  int socket_ = -1;
};

/// The life of a peer, in its process. Returns its exit code.
[[nodiscard]] int run_peer(int socket);

}  // namespace tessera::driver_conformance
