#include "acceptor.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <exception>
#include <utility>

#include "http_session.h"
#include "listener.h"
#include "tessera/base/file.h"
#include "tessera/base/socket_flow.h"

namespace tessera {
namespace {

namespace asio = boost::asio;

constexpr int kAcceptedAtOnce = 64;
constexpr std::chrono::milliseconds kPauseWithoutDescriptors{100};

}  // namespace

Result<std::unique_ptr<Acceptor>> Acceptor::make(asio::io_context& io, SessionEnvironment& environment, int listener,
                                                 bool is_unix) {
  UniqueFd copy = UniqueFd::adopt(::fcntl(listener, F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) {
    return system_error("cannot watch a listening socket", errno);
  }
  try {
    std::unique_ptr<Acceptor> acceptor(new Acceptor(io, environment, listener, is_unix));
    acceptor->watched_.assign(copy.value());
    static_cast<void>(copy.release());
    return acceptor;
  } catch (const boost::system::system_error& error) {
    return system_error("cannot watch a listening socket", error.code().value());
  }
}

Acceptor::Acceptor(asio::io_context& io, SessionEnvironment& environment, int listener, bool is_unix)
    : io_(io), environment_(environment), listener_(listener), is_unix_(is_unix), watched_(io), pause_(io) {}

Task<void> Acceptor::run(std::unique_ptr<Acceptor> acceptor) {
  bool was_short = false;
  while (!acceptor->environment_.is_stopping) {
    const bool is_short = !acceptor->accept_what_waits();
    if (is_short && !was_short) {
      acceptor->environment_.service.limits().hit(Limit::kDescriptors);
      acceptor->environment_.logger.warning("cannot accept connections, descriptors or memory ran out; trying again");
    }
    was_short = is_short;
    boost::system::error_code error;
    if (is_short) {
      acceptor->pause_.expires_after(kPauseWithoutDescriptors);
      co_await acceptor->pause_.async_wait(asio::redirect_error(UseTask(), error));
    } else {
      co_await acceptor->watched_.async_wait(asio::posix::descriptor_base::wait_read,
                                             asio::redirect_error(UseTask(), error));
    }
  }
}

// Returns false if descriptors or memory ran out.
bool Acceptor::accept_what_waits() {
  for (int count = 0; count < kAcceptedAtOnce && !environment_.is_stopping; ++count) {
    UniqueFd socket = UniqueFd::adopt(::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket.is_open() && socket.value() <= STDERR_FILENO) {
      // An endpoint has closed descriptors that are its process's: none of our connections takes their place.
      socket = UniqueFd::adopt(::fcntl(socket.value(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    }
    if (socket.is_open()) {
      admit(std::move(socket));
      continue;
    }
    const int reason = errno;
    if (reason == EMFILE || reason == ENFILE || reason == ENOBUFS || reason == ENOMEM) {
      return false;
    }
    if (reason == EAGAIN || reason == EWOULDBLOCK) {
      return true;
    }
  }
  return true;
}

void Acceptor::admit(UniqueFd socket) {
  if (is_unix_) {
    if (!may_connect(socket.value())) {
      return;
    }
    lengthen_unix_queue(socket.value());
  } else {
    const int on = 1;
    static_cast<void>(::setsockopt(socket.value(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  }
  try {
    serve_connection(io_, environment_, std::move(socket));
  } catch (const std::exception& exception) {
    environment_.logger.warning("cannot serve a connection", {{"reason", exception.what()}});
  }
}

bool Acceptor::may_connect(int socket) const {
  if (environment_.options.unix_socket_any_user) {
    return true;
  }
  const Result<::uid_t> user = peer_user(socket);
  if (user.has_value() && (*user == ::geteuid() || *user == 0)) {
    return true;
  }
  const std::int64_t shown = user.has_value() ? std::int64_t{*user} : std::int64_t{-1};
  environment_.logger.warning("refused a connection of another user", {{"user", shown}});
  return false;
}

}  // namespace tessera
