#include "connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "tessera/base/socket_flow.h"

namespace tessera {
namespace {

namespace asio = boost::asio;

// How much one connection may move before others get a turn on its thread.
constexpr std::size_t kTurnBytes = std::size_t{4} << 20;
constexpr std::chrono::seconds kLingerTime{2};

bool is_would_block(int reason) {
  return reason == EAGAIN || reason == EWOULDBLOCK;
}

// Wakes a task that waits for a slot, on some thread of its io_context.
template <class Handler>
class SlotWaiter final : public WorkerSlots::Waiter {
 public:
  SlotWaiter(asio::io_context& io, Handler handler) : io_(io), handler_(std::move(handler)) {}
  void granted() override { finish(true); }
  void refused() override { finish(false); }
  void finish(bool is_granted) {
    asio::post(io_, [handler = std::move(handler_), is_granted]() mutable { handler(is_granted); });
  }

 private:
  asio::io_context& io_;
  Handler handler_;
};

std::string name_of_peer(int socket) {
  ::sockaddr_storage address{};
  ::socklen_t size = sizeof address;
  if (::getpeername(socket, reinterpret_cast<::sockaddr*>(&address), &size) != 0) {
    return {};
  }
  if (address.ss_family == AF_UNIX) {
    ::ucred peer{};
    size = sizeof peer;
    const bool is_known = ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
    return is_known ? "pid " + std::to_string(peer.pid) : "";
  }
  std::array<char, INET6_ADDRSTRLEN> host{};
  if (address.ss_family == AF_INET) {
    ::sockaddr_in ip{};
    std::memcpy(&ip, &address, sizeof ip);
    ::inet_ntop(AF_INET, &ip.sin_addr, host.data(), host.size());
    return std::string(host.data()) + ":" + std::to_string(ntohs(ip.sin_port));
  }
  ::sockaddr_in6 ip{};
  std::memcpy(&ip, &address, sizeof ip);
  ::inet_ntop(AF_INET6, &ip.sin6_addr, host.data(), host.size());
  return "[" + std::string(host.data()) + "]:" + std::to_string(ntohs(ip.sin6_port));
}

void drop_front(std::string_view& first, std::string_view& second, std::size_t count) {
  const std::size_t from_first = std::min(first.size(), count);
  first.remove_prefix(from_first);
  second.remove_prefix(count - from_first);
}

}  // namespace

Connection::Connection(asio::io_context& io, SessionEnvironment& environment, UniqueFd socket)
    : environment_(environment), io_(io), socket_(socket.value()), watch_(socket.value()), descriptor_(io) {
  descriptor_.assign(socket.value());
  static_cast<void>(socket.release());
  admission_ = environment_.connections.add(watch_, environment_.clock.now());
  peer_ = name_of_peer(socket_);
}

// The table may shut the socket down until then, so it is told before the socket is closed.
Connection::~Connection() {
  environment_.connections.remove(watch_);
}

Received Connection::try_receive(std::span<std::byte> into, std::size_t& count) const {
  while (true) {
    const ssize_t got = ::recv(socket_, into.data(), into.size(), 0);
    if (got > 0) {
      count = static_cast<std::size_t>(got);
      return Received::kBytes;
    }
    count = 0;
    if (got < 0 && errno == EINTR) {
      continue;
    }
    return got < 0 && is_would_block(errno) ? Received::kNothingYet : Received::kEnd;
  }
}

Task<bool> Connection::wait_readable(Clock::Instant deadline, Wait wait) {
  // In this order: a server that stops sets the flag, then closes whoever waits for a request.
  if (!watch_.arm(deadline, wait) || (wait != Wait::kForBody && environment_.is_stopping)) {
    co_return false;
  }
  boost::system::error_code error;
  co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read, asio::redirect_error(UseTask(), error));
  moved_bytes_ = 0;
  co_return watch_.disarm() && !error;
}

bool Connection::poll_for_next_request() const {
  constexpr std::chrono::microseconds kPart{1000};  // between looks whether the server stops
  std::chrono::microseconds left = environment_.options.busy_poll;
  return left.count() > 0 && as_busy_poller([&] {
           for (; left.count() > 0 && !environment_.is_stopping; left -= kPart) {
             if (poll_without_sleep(socket_, POLLIN, std::min(left, kPart)) != 0) {
               return true;
             }
           }
           return false;
         });
}

// What `look` finds; nothing, if enough threads look for something already.
template <class Look>
bool Connection::as_busy_poller(Look look) const {
  // One core at least is for those who have something to do.
  static const unsigned kMaxPollers = std::max(2U, std::thread::hardware_concurrency()) - 1;
  const bool is_there = environment_.busy_pollers.fetch_add(1) < kMaxPollers && look();
  environment_.busy_pollers.fetch_sub(1);
  return is_there;
}

// Nobody is waited for so who moves little. False if nothing came.
bool Connection::look_in_flow(short events) {
  return std::exchange(last_bytes_, 0) >= kFlowBytes &&
         as_busy_poller([&] { return poll_in_flow(socket_, events) != 0; });
}

void Connection::begin_body() {
  body_wait_began_.reset();
  last_bytes_ = 0;
}

// The earlier of two: too long without a byte, or too few bytes for the time that it took so far.
Clock::Instant Connection::body_deadline() {
  const DaemonOptions& options = environment_.options;
  const Clock::Instant now = environment_.clock.now();
  if (!body_wait_began_) {
    body_wait_began_ = now;
    body_bytes_ = 0;
  }
  const Clock::Instant without_byte = now + options.body_progress_time;
  // A body that has earned itself a day's time is not slow.
  constexpr std::uint64_t kEnoughSeconds = 86400;
  const std::uint64_t earned = body_bytes_ / std::max<std::uint64_t>(options.body_bytes_per_second, 1);
  if (options.body_bytes_per_second == 0 || earned > kEnoughSeconds) {
    return without_byte;
  }
  return std::min(without_byte, *body_wait_began_ + options.body_rate_time + std::chrono::seconds(earned));
}

Task<std::size_t> Connection::receive(std::span<std::byte> into) {
  while (true) {
    std::size_t count = 0;
    const Received received = try_receive(into, count);
    if (received == Received::kBytes) {
      last_bytes_ = count;
      moved_bytes_ += count;
      body_bytes_ += count;
      if (moved_bytes_ >= kTurnBytes) {
        co_await give_others_a_turn();
      }
      co_return count;
    }
    if (received == Received::kEnd) {
      co_return 0;
    }
    if (look_in_flow(POLLIN)) {
      continue;
    }
    const bool is_open = co_await wait_readable(body_deadline(), Wait::kForBody);
    if (!is_open) {
      co_return 0;
    }
  }
}

Task<bool> Connection::send(std::string_view first, std::string_view second) {
  const std::size_t size = first.size() + second.size();
  while (true) {
    const std::optional<std::size_t> sent = try_send(first, second);
    if (!sent.has_value()) {
      co_return false;
    }
    drop_front(first, second, *sent);
    sent_bytes_ += *sent;
    last_bytes_ = *sent;
    if (first.empty() && second.empty()) {
      moved_bytes_ += size;
      if (moved_bytes_ >= kTurnBytes) {
        co_await give_others_a_turn();
      }
      co_return true;
    }
    if (look_in_flow(POLLOUT)) {
      continue;
    }
    if (!watch_.arm(after(environment_.options.body_progress_time), Wait::kForAnswerToGo)) {
      co_return false;
    }
    boost::system::error_code error;
    co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_write, asio::redirect_error(UseTask(), error));
    if (!watch_.disarm() || error) {
      co_return false;
    }
  }
}

// Returns how many bytes went, nothing if the connection is broken.
std::optional<std::size_t> Connection::try_send(std::string_view first, std::string_view second) const {
  std::array<::iovec, 2> parts{
      {{const_cast<char*>(first.data()), first.size()}, {const_cast<char*>(second.data()), second.size()}}};
  ::msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  while (true) {
    const ssize_t sent = ::sendmsg(socket_, &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (is_would_block(errno)) {
      return 0;
    }
    if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

Task<void> Connection::give_others_a_turn() {
  moved_bytes_ = 0;
  co_await asio::post(io_, UseTask());
}

Task<HeldSlot> Connection::wait_for_slot(WorkerSlots& slots) {
  const bool is_granted = co_await asio::async_initiate<const UseTask, void(bool)>(
      [this, &slots](auto handler) {
        auto* const waiter = new SlotWaiter<decltype(handler)>(io_, std::move(handler));
        std::unique_ptr<WorkerSlots::Waiter> owner(waiter);
        const WorkerSlots::Outcome outcome = slots.take_or_wait(owner);
        if (outcome != WorkerSlots::Outcome::kQueued) {
          waiter->finish(outcome == WorkerSlots::Outcome::kTaken);
        }
      },
      UseTask());
  co_return is_granted ? HeldSlot(slots) : HeldSlot();
}

Task<void> Connection::linger() {
  ::shutdown(socket_, SHUT_WR);
  const Clock::Instant deadline = after(kLingerTime);
  std::array<std::byte, std::size_t{2} << 10> waste{};
  while (environment_.clock.now() < deadline) {
    std::size_t count = 0;
    const Received received = try_receive(waste, count);
    if (received == Received::kEnd) {
      co_return;
    }
    if (received == Received::kBytes) {
      co_await give_others_a_turn();
      continue;
    }
    const bool is_open = co_await wait_readable(deadline, Wait::kForEnd);
    if (!is_open) {
      co_return;
    }
  }
}

bool Connection::is_broken() const {
  ::pollfd polled{.fd = socket_, .events = 0, .revents = 0};
  return ::poll(&polled, 1, 0) > 0 && (polled.revents & (POLLHUP | POLLERR)) != 0;
}

bool Connection::has_peer_gone() const {
  if (is_broken()) {
    return true;
  }
  int domain = AF_UNIX;
  ::socklen_t size = sizeof domain;
  static_cast<void>(::getsockopt(socket_, SOL_SOCKET, SO_DOMAIN, &domain, &size));
  char byte = 0;
  return domain != AF_UNIX && ::recv(socket_, &byte, 1, MSG_PEEK) == 0;
}

}  // namespace tessera
