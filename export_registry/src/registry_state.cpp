#include "registry_state.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tessera {
namespace {

// How many leases are ended or looked at under one hold of the lock: each takes up to a microsecond when none is in the
// caches.
constexpr std::size_t kBatch = 128;
// So a hold empties one segment of the table at most, which is what the table keeps for us (it merges two buckets for
// each lease).
static_assert(2 * kBatch <= LeaseTable::kSegmentBuckets);

// What counts against the limit.
std::uint64_t used_bytes(const RegistryStats& stats) {
  return stats.bytes + stats.reserved_bytes;
}

}  // namespace

/// What was ended under one hold of the lock, to be destroyed after it, the oldest first.
class ExportRegistry::State::Ended {
 public:
  Ended() = default;
  Ended(const Ended&) = delete;
  Ended& operator=(const Ended&) = delete;
  ~Ended() {
    for (std::size_t i = 0; i < count_; ++i) {
      leases_[i].reset();
    }
  }

  void add(Lease* lease) { leases_[count_++].reset(lease); }
  void add(std::unique_ptr<LeaseTable::Segment> segment) { segment_ = std::move(segment); }
  [[nodiscard]] std::size_t count() const { return count_; }

 private:
  std::array<std::unique_ptr<Lease>, kBatch> leases_;
  std::unique_ptr<LeaseTable::Segment> segment_;
  std::size_t count_ = 0;
};

bool ExportRegistry::State::try_reserve(std::uint64_t bytes) {
  const PoliteLock lock(mutex_);
  const std::uint64_t used = used_bytes(stats_);
  if (bytes > options_.limit_bytes - std::min(used, options_.limit_bytes)) {
    return false;
  }
  stats_.reserved_bytes += bytes;
  return true;
}

void ExportRegistry::State::give_up(std::uint64_t reserved_bytes) {
  const PoliteLock lock(mutex_);
  stats_.reserved_bytes -= std::min(reserved_bytes, stats_.reserved_bytes);
}

void ExportRegistry::State::put(std::unique_ptr<Lease> lease) {
  bool is_awaited = false;
  {
    const PoliteLock lock(mutex_);
    table_.insert(*lease);
    // The clock was read before the lock was taken; who came later is not older.
    if (const Lease* last = by_age_.back(); last != nullptr) {
      lease->facts.made = std::max(lease->facts.made, last->facts.made);
    }
    stats_.reserved_bytes -= std::min(lease->facts.bytes, stats_.reserved_bytes);
    // The sum stays a number, whatever the caller says.
    lease->facts.bytes = std::min(lease->facts.bytes, UINT64_MAX - used_bytes(stats_));
    stats_.bytes += lease->facts.bytes;
    ++stats_.leases;
    ++stats_.made;
    by_age_.push_back(*lease);
    if (lease->facts.is_acknowledging) {
      ++stats_.acknowledging;
    } else {
      superseded_.push_back(*lease);
    }
    static_cast<void>(lease.release());  // NOLINT(bugprone-unused-return-value): the table has it now
    is_awaited = std::exchange(is_awaited_, false);
    if (is_awaited) {
      awaited_expiry_ = expiry_of_oldest();
    }
  }
  if (is_awaited) {
    has_lease_.notify_all();
  }
}

void ExportRegistry::State::unlink(const Lease& lease, LeaseEnd end) {
  by_age_.remove(lease);
  if (lease.facts.is_acknowledging) {
    --stats_.acknowledging;
  } else {
    superseded_.remove(lease);
  }
  stats_.bytes -= lease.facts.bytes;
  --stats_.leases;
  ++stats_.ended[static_cast<std::size_t>(end)];
}

bool ExportRegistry::State::end_one(const RandomId& id, LeaseEnd end) {
  std::unique_ptr<LeaseTable::Segment> segment;
  std::unique_ptr<Lease> lease;
  const PoliteLock lock(mutex_);
  lease.reset(table_.take(id));
  if (lease == nullptr) {
    return false;
  }
  unlink(*lease, end);
  segment = table_.take_empty_segment();
  return true;
}

Lease* ExportRegistry::State::next_to_end(LeaseEnd end, Clock::Instant now) const {
  if (end == LeaseEnd::kSuperseded) {
    return superseded_.front();
  }
  if (end == LeaseEnd::kExpired && expiry_of_oldest() > now) {
    return nullptr;
  }
  return by_age_.front();
}

std::size_t ExportRegistry::State::end_batch(LeaseEnd end, Clock::Instant now, std::size_t& limit) {
  Ended ended;
  const PoliteLock lock(mutex_);
  // Else who puts as fast as we end would keep us here.
  limit = std::min<std::uint64_t>(limit, stats_.leases);
  const std::size_t batch = std::min(kBatch, limit);
  Lease* lease = nullptr;
  while (ended.count() < batch && (lease = next_to_end(end, now)) != nullptr) {
    unlink(*lease, end);
    ended.add(table_.take(lease->facts.id));
  }
  ended.add(table_.take_empty_segment());
  limit -= ended.count();
  return ended.count();
}

std::size_t ExportRegistry::State::end_many(LeaseEnd end, Clock::Instant now, std::size_t limit) {
  std::size_t count = 0;
  std::size_t batch = 0;
  do {
    batch = end_batch(end, now, limit);
    count += batch;
    mutex_.let_others_in();
  } while (batch == kBatch);
  return count;
}

Clock::Instant ExportRegistry::State::expiry_of_oldest() const {
  const Lease* oldest = by_age_.front();
  if (oldest == nullptr) {
    return Clock::Instant::max();
  }
  const Clock::Instant made = oldest->facts.made;
  const auto lifetime = std::max(options_.lifetime, std::chrono::nanoseconds(0));
  return made > Clock::Instant::max() - lifetime ? Clock::Instant::max() : made + lifetime;
}

Clock::Instant ExportRegistry::State::next_expiry() const {
  const PoliteLock lock(mutex_);
  return expiry_of_oldest();
}

std::optional<Clock::Instant> ExportRegistry::State::wait_for_lease(const std::stop_token& stop) {
  // Under the lock, so that it does not come between the look at the token and the wait.
  const std::stop_callback wake(stop, [this] {
    const PoliteLock lock(mutex_);
    has_lease_.notify_all();
  });
  const PoliteLock lock(mutex_);
  if (by_age_.front() != nullptr && !stop.stop_requested()) {
    return expiry_of_oldest();
  }
  is_awaited_ = true;
  while (is_awaited_ && !stop.stop_requested()) {
    has_lease_.wait(mutex_);
  }
  if (stop.stop_requested()) {
    return std::nullopt;
  }
  // The lease may have ended already. To wait for the next would have each of a row of short ones wake us.
  return awaited_expiry_;
}

RegistryStats ExportRegistry::State::stats() const {
  const PoliteLock lock(mutex_);
  return stats_;
}

bool ExportRegistry::State::see_more(std::vector<LeaseFacts>& seen, std::size_t& alive, std::size_t count) const {
  // We go on after the last one that is still there: what was between it and the last one seen is gone, and with it
  // nothing that was not seen.
  const Lease* last = nullptr;
  for (std::size_t tries = 0; alive > 0 && last == nullptr; ++tries) {
    if (tries == kBatch) {
      return true;
    }
    last = table_.find(seen[alive - 1].id);
    if (last == nullptr) {
      --alive;
    }
  }
  const Lease* lease = last != nullptr ? by_age_.after(*last) : by_age_.front();
  for (; lease != nullptr && count > 0; lease = by_age_.after(*lease), --count) {
    seen.push_back(lease->facts);
  }
  alive = seen.size();
  return lease != nullptr;
}

std::vector<LeaseFacts> ExportRegistry::State::facts(std::size_t limit) const {
  std::vector<LeaseFacts> seen;
  limit = std::min<std::uint64_t>(limit, stats().leases);
  std::size_t alive = 0;
  bool has_more = true;
  while (has_more && seen.size() < limit) {
    const std::size_t count = std::min(kBatch, limit - seen.size());
    // Not under the lock.
    if (seen.capacity() - seen.size() < count) {
      seen.reserve(std::max(seen.size() + count, 2 * seen.capacity()));
    }
    {
      const PoliteLock lock(mutex_);
      has_more = see_more(seen, alive, count);
    }
    mutex_.let_others_in();
  }
  return seen;
}

}  // namespace tessera
