#include "client_socket.h"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "tessera/base/socket_flow.h"
#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

constexpr int kSocketType = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

std::string errno_text(int number) {
  return std::generic_category().message(number);
}

// Returns 0, or the errno of what went wrong.
int try_connect(int descriptor, const sockaddr* where, socklen_t size, const CallLimits& limits) {
  if (::connect(descriptor, where, size) == 0) {
    return 0;
  }
  if (errno != EINPROGRESS && errno != EINTR) {
    return errno;
  }
  static_cast<void>(limits.wait(descriptor, POLLOUT, CallLimits::Phase::kConnect));
  int fault = 0;
  socklen_t fault_size = sizeof fault;
  getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &fault, &fault_size);
  return fault;
}

[[noreturn]] void throw_connection(const ServerAddress& address, const std::string& why) {
  throw ClientError(ClientError::Kind::kConnection, "cannot connect to " + address.text + ": " + why);
}

UniqueFd connect_unix(const ServerAddress& address, const CallLimits& limits) {
  sockaddr_un where{};
  where.sun_family = AF_UNIX;
  std::memcpy(where.sun_path, address.unix_path.data(), address.unix_path.size());
  UniqueFd descriptor = UniqueFd::adopt(socket(AF_UNIX, kSocketType, 0));
  if (!descriptor.is_open()) {
    throw_connection(address, errno_text(errno));
  }
  lengthen_unix_queue(descriptor.value());
  const auto begin = std::chrono::steady_clock::now();
  int fault = EAGAIN;
  // That a socket's queue is full cannot be waited for: connect(2) is tried again.
  while ((fault = try_connect(descriptor.value(), reinterpret_cast<const sockaddr*>(&where), sizeof where, limits)) ==
         EAGAIN) {
    limits.pause_connecting(begin);
  }
  if (fault != 0) {
    throw_connection(address, errno_text(fault));
  }
  return descriptor;
}

UniqueFd connect_tcp(const ServerAddress& address, const CallLimits& limits) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  // An address needs nothing looked up, and no lock of the C library's that a fork may leave locked in the child.
  wanted.ai_flags = AI_NUMERICHOST;
  int fault = getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &list);
  if (fault == EAI_NONAME) {
    wanted.ai_flags = AI_ADDRCONFIG;
    fault = getaddrinfo(address.host.c_str(), address.port.c_str(), &wanted, &list);
  }
  if (fault != 0) {
    throw_connection(address, gai_strerror(fault));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, freeaddrinfo);
  int last_fault = 0;
  for (const addrinfo* each = list; each != nullptr; each = each->ai_next) {
    UniqueFd descriptor = UniqueFd::adopt(socket(each->ai_family, kSocketType, each->ai_protocol));
    if (!descriptor.is_open()) {
      last_fault = errno;
      continue;
    }
    last_fault = try_connect(descriptor.value(), each->ai_addr, each->ai_addrlen, limits);
    if (last_fault == 0) {
      const int on = 1;
      setsockopt(descriptor.value(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
      setsockopt(descriptor.value(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
      return descriptor;
    }
  }
  throw_connection(address, errno_text(last_fault));
}

}  // namespace

ClientSocket ClientSocket::connect(const ServerAddress& address, const CallLimits& limits) {
  return ClientSocket(address.unix_path.empty() ? connect_tcp(address, limits) : connect_unix(address, limits));
}

bool ClientSocket::is_stale() const {
  char byte = 0;
  const ssize_t got = recv(descriptor_.value(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return got >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

ClientSocket::Sent ClientSocket::send(std::span<const std::byte> first, std::span<const std::byte> second,
                                      const CallLimits& limits) const {
  limits.check();
  short wanted = POLLIN | POLLOUT;
  while (!first.empty() || !second.empty()) {
    // sendmsg(2) does not write to what the vectors lead to.
    std::array<iovec, 2> pieces{iovec{const_cast<std::byte*>(first.data()), first.size()},
                                iovec{const_cast<std::byte*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = pieces.data();
    message.msg_iovlen = pieces.size();
    const ssize_t sent = sendmsg(descriptor_.value(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && errno == EINTR) {
      continue;
    }
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      const bool is_large = first.size() + second.size() > kFlowBytes;
      short ready = is_large ? poll_in_flow(descriptor_.value(), wanted) : short{0};
      if (ready == 0) {
        ready = limits.wait(descriptor_.value(), wanted, CallLimits::Phase::kTransfer);
      }
      if ((ready & POLLIN) != 0) {
        if (!is_interim_response_next()) {
          return Sent::kAnswered;
        }
        wanted = POLLOUT;
      }
      continue;
    }
    if (sent < 0) {
      return Sent::kRefused;
    }
    auto gone = static_cast<std::size_t>(sent);
    const std::size_t of_first = std::min(gone, first.size());
    first = first.subspan(of_first);
    second = second.subspan(gone - of_first);
  }
  return Sent::kAll;
}

bool ClientSocket::is_interim_response_next() const {
  // "HTTP/1.1 1"; what has not come that far is taken as the answer.
  std::array<char, 10> begin{};
  const ssize_t got = recv(descriptor_.value(), begin.data(), begin.size(), MSG_PEEK | MSG_DONTWAIT);
  return got == static_cast<ssize_t>(begin.size()) && begin.front() == 'H' && begin.back() == '1';
}

std::size_t ClientSocket::receive(std::span<std::byte> into, const CallLimits& limits) {
  // A server that always has more is never waited for.
  limits.check();
  bool was_polled = false;
  while (true) {
    const ssize_t got = recv(descriptor_.value(), into.data(), into.size(), MSG_DONTWAIT);
    if (got >= 0) {
      return static_cast<std::size_t>(got);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (into.size() > kFlowBytes && !std::exchange(was_polled, true) &&
          poll_in_flow(descriptor_.value(), POLLIN) != 0) {
        continue;
      }
      static_cast<void>(limits.wait(descriptor_.value(), POLLIN, CallLimits::Phase::kTransfer));
    } else if (errno != EINTR) {
      receive_errno_ = errno;
      return 0;
    }
  }
}

bool ClientSocket::was_refused() const {
  int fault = receive_errno_;
  if (fault == 0) {
    // A connection that was closed before our bytes came ends like any other; that they were refused is told here.
    socklen_t size = sizeof fault;
    getsockopt(descriptor_.value(), SOL_SOCKET, SO_ERROR, &fault, &size);
  }
  return fault == ECONNRESET || fault == EPIPE;
}

}  // namespace tessera
