// A connected socket whose waiting holds no thread: receives, sends, and takes turns with the other connections.
#pragma once

#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>  // Boost 1.74 needs it first.

#include "connection_table.h"
#include "session_environment.h"
#include "task.h"
#include "tessera/base/unique_fd.h"
#include "worker_slots.h"

namespace tessera {

/// What one attempt to receive brought.
enum class Received {
  kBytes,
  kNothingYet,
  kEnd,  ///< the peer has closed, or the connection is broken
};

/// One task at a time.
class Connection {
 public:
  using Wait = WatchedConnection::Wait;

  /// Takes over a socket that does not block. Throws boost::system::system_error if it cannot be watched.
  Connection(boost::asio::io_context& io, SessionEnvironment& environment, UniqueFd socket);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection();

  [[nodiscard]] ConnectionTable::Admission admission() const { return admission_; }
  /// The time in so many seconds.
  [[nodiscard]] Clock::Instant after(std::chrono::seconds time) const { return environment_.clock.now() + time; }

  /// Receives what is there, without waiting.
  [[nodiscard]] Received try_receive(std::span<std::byte> into, std::size_t& count) const;
  /// Waits until there may be something to receive. False if the connection is being closed.
  [[nodiscard]] Task<bool> wait_readable(Clock::Instant deadline, Wait wait);
  /// Looks for something to receive for DaemonOptions::busy_poll, holding this thread. False if nothing came, or if
  /// enough threads do so already.
  [[nodiscard]] bool poll_for_next_request() const;
  /// Says that a body begins now, whose average rate counts from here.
  void begin_body();
  /// Receives at least one byte of it, waiting up to body_progress_time, less if its average rate is too low. 0 at the
  /// end.
  [[nodiscard]] Task<std::size_t> receive(std::span<std::byte> into);
  /// Sends both texts, one behind the other. Returns whether all of it was sent.
  [[nodiscard]] Task<bool> send(std::string_view first, std::string_view second);
  /// Of all that was to be sent so far, what the system took.
  [[nodiscard]] std::uint64_t sent_bytes() const { return sent_bytes_; }
  /// Lets other connections have this thread first.
  [[nodiscard]] Task<void> give_others_a_turn();
  /// Waits for a slot; without one if too many wait already, or if those who wait are refused.
  [[nodiscard]] Task<HeldSlot> wait_for_slot(WorkerSlots& slots);
  /// Closes our side, and throws away what the peer still sends until it closes too, so that it reads the last answer
  /// before a reset.
  [[nodiscard]] Task<void> linger();

  /// Who is on the other side: "127.0.0.1:41234", "[::1]:41234", "pid 5123"; empty if it is not known.
  [[nodiscard]] std::string_view peer() const { return peer_; }
  /// What the table of connections sees of this one.
  [[nodiscard]] WatchedConnection& watch() { return watch_; }
  /// Whether nobody can get an answer any more: the peer reset the connection, or closed a Unix socket.
  [[nodiscard]] bool is_broken() const;
  /// The same, or the peer of a TCP connection sends nothing more: that it has closed and that it has closed one
  /// direction only look alike.
  [[nodiscard]] bool has_peer_gone() const;

 private:
  [[nodiscard]] Clock::Instant body_deadline();
  template <class Look>
  [[nodiscard]] bool as_busy_poller(Look look) const;
  [[nodiscard]] bool look_in_flow(short events);
  [[nodiscard]] std::optional<std::size_t> try_send(std::string_view first, std::string_view second) const;

  SessionEnvironment& environment_;
  boost::asio::io_context& io_;
  int socket_;
  WatchedConnection watch_;
  boost::asio::posix::basic_stream_descriptor<Executor> descriptor_;
  ConnectionTable::Admission admission_ = ConnectionTable::Admission::kServed;
  std::size_t moved_bytes_ = 0;                    // since others last had a turn
  std::size_t last_bytes_ = 0;                     // that were moved at once
  std::optional<Clock::Instant> body_wait_began_;  // of the body that comes
  std::uint64_t body_bytes_ = 0;                   // since then
  std::uint64_t sent_bytes_ = 0;
  std::string peer_;
};

}  // namespace tessera
