#include "listener.h"

#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "tessera/base/file.h"

namespace tessera {
namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

Error in_use(const std::string& address) {
  return {ErrorCode::kUnavailable, "cannot listen on " + address + ": address already in use", EADDRINUSE};
}

Error listen_error(const std::string& address, int errno_value) {
  if (errno_value == EADDRINUSE) {
    return in_use(address);
  }
  return system_error("cannot listen on " + address, errno_value);
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> resolve(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int code = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (code != 0) {
    return Error(ErrorCode::kInvalidArgument, "cannot listen on host '" + host + "': " + ::gai_strerror(code));
  }
  return Addresses(list);
}

const addrinfo* preferred(const addrinfo* list) {
  for (const addrinfo* address = list; address != nullptr; address = address->ai_next) {
    if (address->ai_family == AF_INET) {
      return address;
    }
  }
  return list;
}

std::uint16_t bound_port(int socket, std::uint16_t otherwise) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return otherwise;
  }
  if (address.ss_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6*>(&address)->sin6_port);
  }
  return ntohs(reinterpret_cast<const sockaddr_in*>(&address)->sin_port);
}

// Two daemons that start at once on one path: the second waits here until the first listens. Where the folder cannot
// be locked they start anyway, unguarded.
UniqueFd lock_folder(const std::filesystem::path& path) {
  const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
  UniqueFd lock = UniqueFd::adopt(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (int attempt = 0; lock.is_open() && attempt < 100; ++attempt) {
    if (::flock(lock.value(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) {
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return lock;
}

// Removes the socket file of a daemon that is gone.
Status remove_stale_socket(const std::string& name, const sockaddr_un& address) {
  struct stat status{};
  if (::lstat(address.sun_path, &status) != 0) {
    return errno == ENOENT ? Status() : Status(listen_error(name, errno));
  }
  if (!S_ISSOCK(status.st_mode)) {
    return Error(ErrorCode::kInvalidArgument, "cannot listen on " + name + ": it exists and is not a socket");
  }
  const UniqueFd probe = UniqueFd::adopt(::socket(AF_UNIX, kSocketFlags, 0));
  if (!probe.is_open()) {
    return listen_error(name, errno);
  }
  const bool is_refused = ::connect(probe.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
                          errno == ECONNREFUSED;
  if (!is_refused) {
    return in_use(name);
  }
  if (::unlink(address.sun_path) != 0 && errno != ENOENT) {
    return listen_error(name, errno);
  }
  return {};
}

}  // namespace

Result<TcpListener> listen_tcp(const std::string& host, std::uint16_t port) {
  TESSERA_ASSIGN_OR_RETURN(const Addresses addresses, resolve(host, port));
  const addrinfo& address = *preferred(addresses.get());
  const std::string name = host + ":" + std::to_string(port);
  TcpListener listener;
  listener.socket = UniqueFd::adopt(::socket(address.ai_family, kSocketFlags, 0));
  if (!listener.socket.is_open()) {
    return listen_error(name, errno);
  }
  // Allows connections of an earlier daemon that still linger, but no second listener (as SO_REUSEPORT would).
  const int on = 1;
  if (::setsockopt(listener.socket.value(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) != 0 ||
      ::bind(listener.socket.value(), address.ai_addr, address.ai_addrlen) != 0 ||
      ::listen(listener.socket.value(), SOMAXCONN) != 0) {
    return listen_error(name, errno);
  }
  listener.port = bound_port(listener.socket.value(), port);
  return listener;
}

Result<UnixListener> UnixListener::listen(const std::filesystem::path& path, unsigned mode) {
  const std::string name = "unix:" + path.string();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string& text = path.native();
  if (text.empty() || text.size() >= sizeof address.sun_path || text.find('\0') != std::string::npos) {
    return Error(ErrorCode::kInvalidArgument, "cannot listen on " + name + ": the path has " +
                                                  std::to_string(text.size()) + " characters, 1 to " +
                                                  std::to_string(sizeof address.sun_path - 1) + " are possible");
  }
  std::memcpy(address.sun_path, text.data(), text.size());

  const UniqueFd lock = lock_folder(path);
  TESSERA_RETURN_IF_ERROR(remove_stale_socket(name, address));
  UnixListener listener;
  listener.socket_ = UniqueFd::adopt(::socket(AF_UNIX, kSocketFlags, 0));
  const int socket = listener.socket_.value();
  // The mode of the socket before bind(2) bounds that of the path, so it is never wider than wanted, whatever the umask
  // is; chmod(2) then gives exactly the mode. Nobody can connect before listen(2).
  if (socket < 0 || ::fchmod(socket, mode) != 0 ||
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return listen_error(name, errno);
  }
  struct stat status{};
  if (::lstat(address.sun_path, &status) == 0) {
    listener.path_ = text;
    listener.device_ = status.st_dev;
    listener.inode_ = status.st_ino;
  }
  if (::chmod(address.sun_path, mode) != 0 || ::listen(socket, SOMAXCONN) != 0) {
    return listen_error(name, errno);
  }
  return listener;
}

UnixListener::UnixListener(UnixListener&& other) noexcept
    : socket_(std::move(other.socket_)),
      path_(std::exchange(other.path_, {})),
      device_(other.device_),
      inode_(other.inode_) {}

UnixListener& UnixListener::operator=(UnixListener&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  return *this;
}

void UnixListener::remove_path() {
  const std::string path = std::exchange(path_, {});
  struct stat status{};
  if (!path.empty() && ::lstat(path.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_) {
    ::unlink(path.c_str());
  }
}

Result<::uid_t> peer_user(int socket) {
  ::ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return system_error("cannot ask for the user of a connection", errno);
  }
  return peer.uid;
}

}  // namespace tessera
