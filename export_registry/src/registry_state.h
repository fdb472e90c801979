// The leases of a registry and the lock that guards them.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

#include "lease.h"
#include "lease_list.h"
#include "lease_table.h"
#include "polite_mutex.h"
#include "tessera/export_registry/export_registry.h"

namespace tessera {

/// What ExportRegistry is made of. Each lease is in the table and in the list by age, and in the list of the superseded
/// ones if its client names nothing. Who ends a lease unlinks it under the lock, and so is the only one to do it; it is
/// destroyed when the lock is free. Safe to use from any thread.
class ExportRegistry::State {
 public:
  State(const Options& options, const Clock& clock) : options_(options), clock_(clock) {}

  [[nodiscard]] bool try_reserve(std::uint64_t bytes);
  void give_up(std::uint64_t reserved_bytes);

  void put(std::unique_ptr<Lease> lease);
  bool end_one(const RandomId& id, LeaseEnd end);
  /// Ends leases of the front of their list, the oldest first, at most `limit` and no more than there were at first.
  std::size_t end_many(LeaseEnd end, Clock::Instant now, std::size_t limit);

  [[nodiscard]] Clock::Instant next_expiry() const;
  [[nodiscard]] std::optional<Clock::Instant> wait_for_lease(const std::stop_token& stop);
  [[nodiscard]] RegistryStats stats() const;
  [[nodiscard]] std::vector<LeaseFacts> facts(std::size_t limit) const;
  [[nodiscard]] Clock::Instant now() const { return clock_.now(); }

 private:
  class Ended;

  /// Ends what one hold of the lock may end, and counts `limit` down.
  std::size_t end_batch(LeaseEnd end, Clock::Instant now, std::size_t& limit);
  void unlink(const Lease& lease, LeaseEnd end) TESSERA_REQUIRES(mutex_);
  [[nodiscard]] Lease* next_to_end(LeaseEnd end, Clock::Instant now) const TESSERA_REQUIRES(mutex_);
  [[nodiscard]] Clock::Instant expiry_of_oldest() const TESSERA_REQUIRES(mutex_);
  /// Copies what comes after those that were seen; false if there is no more. `alive` is how many of them may still be
  /// there, and is counted down as they are not found.
  bool see_more(std::vector<LeaseFacts>& seen, std::size_t& alive, std::size_t count) const TESSERA_REQUIRES(mutex_);

  const Options options_;
  const Clock& clock_;
  mutable PoliteMutex mutex_;
  std::condition_variable_any has_lease_;
  bool is_awaited_ TESSERA_GUARDED_BY(mutex_) = false;
  Clock::Instant awaited_expiry_ TESSERA_GUARDED_BY(mutex_);  ///< of the lease that ended the wait
  RegistryStats stats_ TESSERA_GUARDED_BY(mutex_);
  LeaseTable table_ TESSERA_GUARDED_BY(mutex_);
  LeaseList<&Lease::by_age> by_age_ TESSERA_GUARDED_BY(mutex_);
  LeaseList<&Lease::superseded> superseded_ TESSERA_GUARDED_BY(mutex_);
};

}  // namespace tessera
