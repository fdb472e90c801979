#include "connection_table.h"

#include <sys/socket.h>

namespace tessera {

bool WatchedConnection::arm(Clock::Instant deadline, Wait wait) {
  const std::int64_t nanoseconds =
      std::chrono::duration_cast<std::chrono::nanoseconds>(deadline.time_since_epoch()).count();
  return set((nanoseconds & ~std::int64_t{1}) | (wait == Wait::kForRequest ? 1 : 0));
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

bool WatchedConnection::close_if_still(std::int64_t seen) {
  if (!state_.compare_exchange_strong(seen, kClosing)) {
    return false;
  }
  ::shutdown(descriptor_, SHUT_RDWR);
  return true;
}

ConnectionTable::Admission ConnectionTable::add(WatchedConnection& connection) {
  const MutexLock lock(mutex_);
  const std::size_t count = connections_.size();
  if (count >= limit_ + kRefusedAtOnce) {
    return Admission::kDropped;
  }
  connections_.insert(&connection);
  return count < limit_ ? Admission::kServed : Admission::kRefused;
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
      static_cast<void>(connection->close_if_still(seen));
    }
  }
}

void ConnectionTable::close_waiting() {
  const MutexLock lock(mutex_);
  for (WatchedConnection* connection : connections_) {
    const std::int64_t seen = connection->state_.load();
    if (seen >= 0 && (seen & 1) == 1) {
      static_cast<void>(connection->close_if_still(seen));
    }
  }
}

void ConnectionTable::close_all() {
  const MutexLock lock(mutex_);
  for (WatchedConnection* connection : connections_) {
    connection->state_ = WatchedConnection::kClosing;
    ::shutdown(connection->descriptor_, SHUT_RDWR);
  }
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
