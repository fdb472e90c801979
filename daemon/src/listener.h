// Listening sockets: TCP, and a Unix socket that only those who may can reach.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "tessera/base/result.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// A TCP socket that listens, not blocking. Move-only.
struct TcpListener {
  UniqueFd socket;
  std::uint16_t port = 0;
};

/// Listens on the first address of `host` (an IPv4 one, if it has any); port 0 lets the system choose. No other socket
/// can listen there at the same time. Errors: kUnavailable if one does, kInvalidArgument for a host without an address,
/// others of the system.
[[nodiscard]] Result<TcpListener> listen_tcp(const std::string& host, std::uint16_t port);

/// A Unix socket that listens, not blocking; its path is removed with it, unless somebody else's has taken its place.
/// Move-only. One thread at a time.
class UnixListener final {
 public:
  /// Nobody can connect before the path has its mode. A socket that nobody listens on any more is replaced. Errors:
  /// kUnavailable if somebody does, kInvalidArgument if the path is too long or something else, others of the system.
  [[nodiscard]] static Result<UnixListener> listen(const std::filesystem::path& path, unsigned mode);

  UnixListener() = default;
  UnixListener(const UnixListener&) = delete;
  UnixListener& operator=(const UnixListener&) = delete;
  UnixListener(UnixListener&& other) noexcept;
  UnixListener& operator=(UnixListener&& other) noexcept;
  ~UnixListener() { remove_path(); }

  [[nodiscard]] const UniqueFd& socket() const { return socket_; }
  /// Removes the path, so that no further client finds it.
  void remove_path();

 private:
  UniqueFd socket_;
  std::string path_;  // empty: there is nothing to remove
  ::dev_t device_ = 0;
  ::ino_t inode_ = 0;
};

/// The user at the other end of a connected Unix socket.
[[nodiscard]] Result<::uid_t> peer_user(int socket);

}  // namespace tessera
