// Keeps exported things alive until the client names them done, another call supersedes them, or they are too old.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/clock.h"
#include "tessera/base/random_id.h"

namespace tessera {

/// How a lease ended; for counting.
enum class LeaseEnd { kNamed, kSuperseded, kExpired, kDropped, kDrained };
inline constexpr std::size_t kLeaseEndCount = 5;

/// A lease as an operator sees it.
struct LeaseInfo {
  std::string short_id;  ///< the first 8 digits of the id: enough to tell leases apart, not enough to name one
  std::uint64_t bytes = 0;
  std::chrono::nanoseconds age{0};
  bool is_acknowledging = false;  ///< its client names what it is done with
  std::string peer;               ///< who it was made for, as put() was told
};

struct RegistryStats {
  std::uint64_t leases = 0;
  std::uint64_t acknowledging = 0;   ///< of them, those whose clients name what is done
  std::uint64_t bytes = 0;           ///< of all leases
  std::uint64_t reserved_bytes = 0;  ///< of exports that are being made
  std::uint64_t made = 0;
  std::uint64_t ended[kLeaseEndCount] = {};  ///< by LeaseEnd
};

/// Owners by id, with the three ends of PROTOCOL.md section 8.1. Safe to use from any thread. Owners are destroyed
/// outside its lock, on the thread that ends the lease, the oldest first; they may call the registry, and must not
/// throw. Every lease ends in one way only. Nothing throws but what says so.
class ExportRegistry {
 public:
  using Owner = std::shared_ptr<void>;

  struct Options {
    std::chrono::nanoseconds lifetime = std::chrono::seconds(300);  ///< 0 or less: too old at once
    std::uint64_t limit_bytes = UINT64_MAX;                         ///< of all leases and reservations
  };

  /// `clock` outlives it. Throws std::bad_alloc.
  ExportRegistry(const Options& options, const Clock& clock);
  ExportRegistry(const ExportRegistry&) = delete;
  ExportRegistry& operator=(const ExportRegistry&) = delete;
  /// Drops what is left.
  ~ExportRegistry();

  /// Whether `bytes` more fit under the limit; then they count until they are leased or given up. For a check before
  /// the work is done.
  [[nodiscard]] bool try_reserve(std::uint64_t bytes);
  void give_up(std::uint64_t reserved_bytes);

  /// Keeps an owner under a new random id, which is the only way to name it. `peer` is shown to operators, at most 47
  /// bytes of it. Bytes are taken out of what was reserved, as far as there is any, and count whether they fit or not:
  /// the work is done. Throws std::bad_alloc; then the owner is dropped and what was reserved stays reserved.
  [[nodiscard]] RandomId put(Owner owner, std::uint64_t bytes, bool is_acknowledging, std::string_view peer);
  /// Ends one lease; false if there is none of that id (any more).
  bool release(const RandomId& id, LeaseEnd end = LeaseEnd::kNamed);
  /// Ends the leases that the value of a `Tesseract-Exports-Done` header names: 32 lower-case hex digits each, joined
  /// by commas, compared verbatim. What is unknown, repeated, empty or of another form is ignored. Returns how many
  /// ended.
  std::size_t release_named(std::string_view header);
  /// Ends all leases of clients that do not name theirs. Returns how many.
  std::size_t supersede();
  /// Ends the leases that are as old as the lifetime at `now`, at most `limit`, a bounded number under each hold of the
  /// lock. Returns how many.
  std::size_t reap_expired(Clock::Instant now, std::size_t limit = SIZE_MAX);
  /// When the next lease will be too old; Clock::Instant::max() if there is none.
  [[nodiscard]] Clock::Instant next_expiry() const;
  /// Waits for a lease if there is none, and returns a time before which none will be too old; nothing once `stop` is
  /// requested. For one thread, which reaps: a lease costs its maker a wake-up only if it ends such a wait.
  [[nodiscard]] std::optional<Clock::Instant> wait_for_lease(const std::stop_token& stop);
  /// Ends all leases that there are, as at shutdown. Returns how many.
  std::size_t drain();

  [[nodiscard]] RegistryStats stats() const;
  /// The leases, oldest first, at most `limit`, a bounded number under each hold of the lock: what ends or is made
  /// meanwhile may be among them or not. Throws std::bad_alloc.
  [[nodiscard]] std::vector<LeaseInfo> leases(std::size_t limit) const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

}  // namespace tessera
