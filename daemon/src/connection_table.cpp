#include "connection_table.h"

#include <sys/socket.h>

#include <thread>

namespace tessera {
namespace {

constexpr std::chrono::seconds kReportInterval{10};
// Of the target of a request that was cut off.
constexpr std::size_t kShownTargetBytes = 200;

// Stands for a request that is just being read.
constexpr ShownRequest kBeingRead{};

using Wait = WatchedConnection::Wait;

Limit limit_of(Wait wait) {
  switch (wait) {
    case Wait::kForAnswerToGo:
      return Limit::kAnswerTime;
    case Wait::kForBody:
      return Limit::kBodyTime;
    case Wait::kForHead:
      return Limit::kHeaderTime;
    case Wait::kForNextRequest:
      return Limit::kIdleTime;
    case Wait::kForFirstRequest:
      return Limit::kFirstRequestTime;
    case Wait::kForEnd:
      break;
  }
  return Limit::kNone;
}

}  // namespace

bool WatchedConnection::arm(Clock::Instant deadline, Wait wait) {
  const std::int64_t nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
  return set((nanoseconds & ~kWaitBits) | static_cast<std::int64_t>(wait));
}

bool WatchedConnection::disarm() {
  return set(kBusy);
}

// A connection that is being closed stays so: otherwise a request that arrives just then would run without anybody
// getting its answer.
bool WatchedConnection::set(std::int64_t state) {
  std::int64_t seen = state_.load();
  while (seen != kClosing) {
    if (state_.compare_exchange_weak(seen, state)) {
      return true;
    }
  }
  return false;
}

bool WatchedConnection::close_if_still(std::int64_t seen, Limit limit, LimitCounters& hits) {
  if (!state_.compare_exchange_strong(seen, kClosing)) {
    return false;
  }
  // The owner and the peer look at both once they have noticed the shutdown.
  closed_by_.store(limit, std::memory_order_relaxed);
  hits.hit(limit);
  ::shutdown(descriptor_, SHUT_RDWR);
  return true;
}

void WatchedConnection::close(Limit limit) {
  closed_by_.store(limit, std::memory_order_relaxed);
  state_ = kClosing;
  ::shutdown(descriptor_, SHUT_RDWR);
}

void WatchedConnection::hide(const ShownRequest& request) {
  const ShownRequest* seen = &request;
  while (!shown_.compare_exchange_weak(seen, nullptr, std::memory_order_acq_rel)) {
    seen = &request;
    std::this_thread::yield();
  }
}

template <class Read>
bool WatchedConnection::read_shown(Read read) {
  const ShownRequest* const shown = shown_.load(std::memory_order_acquire);
  const ShownRequest* expected = shown;
  if (shown == nullptr || !shown_.compare_exchange_strong(expected, &kBeingRead, std::memory_order_acq_rel)) {
    return false;
  }
  read(*shown);
  shown_.store(shown, std::memory_order_release);
  return true;
}

ConnectionTable::Admission ConnectionTable::add(WatchedConnection& connection, Clock::Instant now) {
  Admission admission = Admission::kServed;
  bool is_news = false;
  {
    const MutexLock lock(mutex_);
    const std::size_t count = connections_.size();
    if (count >= limit_) {
      is_news = !reported_ || now - *reported_ >= kReportInterval;
      reported_ = is_news ? now : reported_;
      // One that gives way is counted until it has noticed, so there may be a few more than the limit meanwhile.
      if (count >= limit_ + kRefusedAtOnce) {
        admission = Admission::kDropped;
      } else if (!close_longest_idle(now)) {
        admission = Admission::kRefused;
      }
      if (admission != Admission::kServed) {
        hits_.hit(Limit::kConnections);  // as what gives way counts it otherwise
      }
    }
    if (admission != Admission::kDropped) {
      connections_.insert(&connection);
    }
    if (is_closed_) {
      connection.close(Limit::kNone);
    }
  }
  if (is_news) {
    logger_.warning("there are as many connections as there may be",
                    {{"connections", static_cast<std::int64_t>(limit_)},
                     {"new_one", admission == Admission::kServed ? "took the place of an idle one" : "refused"}});
  }
  return admission;
}

bool ConnectionTable::close_longest_idle(Clock::Instant now) {
  WatchedConnection* longest = nullptr;
  std::int64_t longest_state = 0;
  Clock::Instant::duration longest_time{};
  for (WatchedConnection* connection : connections_) {
    const std::int64_t seen = connection->state_.load();
    if (seen < 0) {
      continue;
    }
    const auto wait = static_cast<Wait>(seen & WatchedConnection::kWaitBits);
    const bool is_first = wait == Wait::kForFirstRequest;
    if (!is_first && wait != Wait::kForNextRequest) {
      continue;
    }
    const Clock::Instant deadline{std::chrono::nanoseconds(seen & ~WatchedConnection::kWaitBits)};
    const Clock::Instant::duration idle = now - (deadline - (is_first ? first_time_ : idle_time_));
    const Clock::Instant::duration patience =
        is_first ? Clock::Instant::duration(first_time_) / kSilentPart : Clock::Instant::duration(kKeptIdleTime);
    if (idle >= patience && idle > longest_time) {
      longest = connection;
      longest_state = seen;
      longest_time = idle;
    }
  }
  return longest != nullptr && longest->close_if_still(longest_state, Limit::kConnections, hits_);
}

void ConnectionTable::remove(WatchedConnection& connection) {
  const MutexLock lock(mutex_);
  connections_.erase(&connection);
  if (connections_.empty()) {
    is_empty_.notify_all();
  }
}

void ConnectionTable::close_expired(Clock::Instant now) {
  const std::int64_t nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(now.time_since_epoch()).count();
  const MutexLock lock(mutex_);
  for (WatchedConnection* connection : connections_) {
    const std::int64_t seen = connection->state_.load();
    if (seen >= 0 && seen <= nanoseconds) {
      const Limit limit = limit_of(static_cast<Wait>(seen & WatchedConnection::kWaitBits));
      static_cast<void>(connection->close_if_still(seen, limit, hits_));
    }
  }
}

template <class Predicate>
void ConnectionTable::close_if(Predicate is_meant, Limit limit) {
  const MutexLock lock(mutex_);
  for (WatchedConnection* connection : connections_) {
    const std::int64_t seen = connection->state_.load();
    if (seen >= 0 && is_meant(static_cast<Wait>(seen & WatchedConnection::kWaitBits))) {
      static_cast<void>(connection->close_if_still(seen, limit, hits_));
    }
  }
}

// Nobody waits for an answer on these.
void ConnectionTable::close_waiting() {
  close_if([](Wait wait) { return wait != Wait::kForAnswerToGo && wait != Wait::kForBody; }, Limit::kNone);
}

void ConnectionTable::close_incomplete() {
  close_if([](Wait wait) { return wait == Wait::kForBody; }, Limit::kStopTime);
}

void ConnectionTable::close_all(Clock::Instant now) {
  const MutexLock lock(mutex_);
  is_closed_ = true;
  for (WatchedConnection* connection : connections_) {
    const bool is_cut_off = connection->read_shown([&](const ShownRequest& request) {
      logger_.warning("a request was cut off by the end of the daemon",
                      {{"id", request.id},
                       {"method", request.method},
                       {"target", request.target.substr(0, kShownTargetBytes)},
                       {"peer", request.peer},
                       {"seconds", std::chrono::duration<double>(now - request.since).count()}});
      hits_.hit(Limit::kStopTime);
    });
    connection->close(is_cut_off ? Limit::kStopTime : Limit::kNone);
  }
}

std::size_t ConnectionTable::size() const {
  const MutexLock lock(mutex_);
  return connections_.size();
}

bool ConnectionTable::wait_until_empty(std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  const MutexLock lock(mutex_);
  while (!connections_.empty()) {
    if (is_empty_.wait_until(mutex_, deadline) == std::cv_status::timeout) {
      return connections_.empty();
    }
  }
  return true;
}

}  // namespace tessera
