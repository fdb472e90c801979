// The open connections: how many there may be, how long each may take, and how they are closed from outside.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "tessera/base/clock.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// One connection as the table sees it: a descriptor and until when it may wait. Its owner alone arms and disarms it;
/// the table may close it at any time while it is armed.
class WatchedConnection {
 public:
  explicit WatchedConnection(int descriptor) : descriptor_(descriptor) {}

  /// What the connection waits for, which says whether a daemon that stops may close it at once.
  enum class Wait { kForRequest, kWithinRequest };

  /// Says that the connection waits until `deadline` at most. False if it is being closed.
  [[nodiscard]] bool arm(Clock::Instant deadline, Wait wait);
  /// Says that it is busy and may take as long as it likes. False if it is being closed.
  [[nodiscard]] bool disarm();

 private:
  friend class ConnectionTable;

  // The deadline in nanoseconds, its lowest bit standing for kForRequest; or one of two other states.
  static constexpr std::int64_t kBusy = -1;
  static constexpr std::int64_t kClosing = -2;

  [[nodiscard]] bool set(std::int64_t state);
  [[nodiscard]] bool close_if_still(std::int64_t seen);

  int descriptor_;
  std::atomic<std::int64_t> state_{kBusy};
};

/// Safe to use from any thread. Connections remove themselves before their descriptor is closed.
class ConnectionTable {
 public:
  explicit ConnectionTable(std::size_t limit) : limit_(limit) {}

  /// How a new connection is treated.
  enum class Admission {
    kServed,
    kRefused,  ///< above the limit: told so, then closed
    kDropped,  ///< above what may be told at once: closed
  };

  [[nodiscard]] Admission add(WatchedConnection& connection);
  void remove(WatchedConnection& connection);

  /// Shuts down the connections whose deadline has passed.
  void close_expired(Clock::Instant now);
  /// Shuts down the connections that wait for a request.
  void close_waiting();
  /// Shuts down all connections.
  void close_all();

  /// Waits until no connection is open, at most for `time`. Returns whether none is.
  [[nodiscard]] bool wait_until_empty(std::chrono::milliseconds time);

 private:
  static constexpr std::size_t kRefusedAtOnce = 64;

  const std::size_t limit_;
  Mutex mutex_;
  std::condition_variable_any is_empty_;
  std::unordered_set<WatchedConnection*> connections_ TESSERA_GUARDED_BY(mutex_);
};

}  // namespace tessera
