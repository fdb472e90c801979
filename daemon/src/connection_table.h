// The open connections: how many there may be, how long each may take, and how they are closed from outside.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "limit_counters.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// A request that is being answered, as the table tells of it if it is cut off. Borrows. A plain value.
struct ShownRequest {
  std::string_view id;
  std::string_view method;
  std::string_view target;
  std::string_view peer;
  Clock::Instant since;
};

/// One connection as the table sees it: a descriptor and until when it may wait. Its owner alone arms and disarms it;
/// the table may close it at any time while it is armed.
class WatchedConnection {
 public:
  explicit WatchedConnection(int descriptor) : descriptor_(descriptor) {}

  /// What the connection waits for, which says who may close it before its time.
  enum class Wait {
    kForAnswerToGo,    ///< nobody
    kForBody,          ///< a daemon that stops, in a second
    kForHead,          ///< (the rest of one) a daemon that stops, as all that follow
    kForEnd,           ///< of the connection
    kForNextRequest,   ///< since it was answered; where connections run short, after kKeptIdleTime
    kForFirstRequest,  ///< since it came; where connections run short, soon
  };

  /// Says that the connection waits until `deadline` at most. False if it is being closed.
  [[nodiscard]] bool arm(Clock::Instant deadline, Wait wait);
  /// Says that it is busy and may take as long as it likes. False if it is being closed.
  [[nodiscard]] bool disarm();

  /// Shows what request is being answered until it is hidden, by the owner as well; it stays as it is meanwhile. Costs
  /// no lock: hiding waits only while the table reads it.
  void show(const ShownRequest& request) { shown_.store(&request, std::memory_order_release); }
  void hide(const ShownRequest& request);

  /// The limit for which the table closed it, if it did.
  [[nodiscard]] Limit closed_by() const { return closed_by_.load(std::memory_order_relaxed); }

 private:
  friend class ConnectionTable;

  // The deadline in nanoseconds, its lowest bits saying the Wait; or one of two other states.
  static constexpr std::int64_t kWaitBits = 7;
  static constexpr std::int64_t kBusy = -1;
  static constexpr std::int64_t kClosing = -2;

  [[nodiscard]] bool set(std::int64_t state);
  [[nodiscard]] bool close_if_still(std::int64_t seen, Limit limit, LimitCounters& hits);
  void close(Limit limit);
  /// What is shown, copied by `read`; nothing is hidden meanwhile. Returns whether something was.
  template <class Read>
  bool read_shown(Read read);

  int descriptor_;
  std::atomic<std::int64_t> state_{kBusy};
  std::atomic<Limit> closed_by_{Limit::kNone};
  std::atomic<const ShownRequest*> shown_{nullptr};
};

/// Safe to use from any thread. Connections remove themselves before their descriptor is closed.
class ConnectionTable {
 public:
  /// `idle_time` is how long a connection waits for its next request, `first_time` for its first. `logger` and `hits`,
  /// which counts the limits for which connections are closed, outlive the table.
  ConnectionTable(std::size_t limit, std::chrono::seconds idle_time, std::chrono::seconds first_time, Logger& logger,
                  LimitCounters& hits)
      : limit_(limit), idle_time_(idle_time), first_time_(first_time), logger_(logger), hits_(hits) {}

  /// At the limit a connection that has been idle for so long gives way to a new one (PROTOCOL.md section 17: not
  /// before 60 s, for its client may just be sending), or one that has sent nothing for this part of its first_time.
  static constexpr std::chrono::seconds kKeptIdleTime{60};
  static constexpr int kSilentPart = 60;

  /// Connections above the limit that may be told so at the same time.
  static constexpr std::size_t kRefusedAtOnce = 64;

  /// How a new connection is treated.
  enum class Admission {
    kServed,
    kRefused,  ///< above the limit: told so, then closed
    kDropped,  ///< above what may be told at once: closed
  };

  /// At the limit, closes the connection that has been idle longest, if it may be.
  [[nodiscard]] Admission add(WatchedConnection& connection, Clock::Instant now);
  void remove(WatchedConnection& connection);

  /// Shuts down the connections whose deadline has passed.
  void close_expired(Clock::Instant now);
  /// Shuts down the connections that wait for a request or the rest of its head.
  void close_waiting();
  /// Shuts down those that wait for the rest of a body.
  void close_incomplete();
  /// Shuts down all connections, and from now on each that is added: it was accepted while the daemon stopped. Warns of
  /// each request that is thereby cut off.
  void close_all(Clock::Instant now);

  [[nodiscard]] std::size_t size() const;

  /// Waits until no connection is open, at most for `time`. Returns whether none is.
  [[nodiscard]] bool wait_until_empty(std::chrono::milliseconds time);

 private:
  using Wait = WatchedConnection::Wait;

  template <class Predicate>
  void close_if(Predicate is_meant, Limit limit);
  [[nodiscard]] bool close_longest_idle(Clock::Instant now) TESSERA_REQUIRES(mutex_);

  const std::size_t limit_;
  const std::chrono::seconds idle_time_;
  const std::chrono::seconds first_time_;
  Logger& logger_;
  LimitCounters& hits_;
  mutable Mutex mutex_;
  std::condition_variable_any is_empty_;
  std::unordered_set<WatchedConnection*> connections_ TESSERA_GUARDED_BY(mutex_);
  std::optional<Clock::Instant> reported_ TESSERA_GUARDED_BY(mutex_);
  bool is_closed_ TESSERA_GUARDED_BY(mutex_) = false;
};

}  // namespace tessera
