#include "tessera/export_registry/export_registry.h"

#include <algorithm>
#include <utility>

#include "lease.h"
#include "registry_state.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

constexpr std::size_t kShortIdDigits = 8;

std::unique_ptr<Lease> make_lease(ExportRegistry::Owner owner, std::uint64_t bytes, bool is_acknowledging,
                                  std::string_view peer) {
  auto lease = std::make_unique<Lease>();
  lease->facts.id = RandomId::make();
  lease->facts.bytes = bytes;
  lease->facts.is_acknowledging = is_acknowledging;
  std::ranges::copy(cut_utf8(peer, lease->facts.peer.size()), lease->facts.peer.begin());
  lease->owner = std::move(owner);
  return lease;
}

LeaseInfo info_of(const LeaseFacts& facts, Clock::Instant now) {
  return {.short_id = facts.id.hex().substr(0, kShortIdDigits),
          .bytes = facts.bytes,
          .age = std::max(std::chrono::nanoseconds(0), std::chrono::nanoseconds(now - facts.made)),
          .is_acknowledging = facts.is_acknowledging,
          .peer = std::string(facts.peer.begin(), std::ranges::find(facts.peer, '\0'))};
}

}  // namespace

ExportRegistry::ExportRegistry(const Options& options, const Clock& clock)
    : state_(std::make_unique<State>(options, clock)) {}

ExportRegistry::~ExportRegistry() {
  // More than once if an owner puts another one as it goes.
  while (drain() > 0) {
  }
}

bool ExportRegistry::try_reserve(std::uint64_t bytes) {
  return state_->try_reserve(bytes);
}

void ExportRegistry::give_up(std::uint64_t reserved_bytes) {
  state_->give_up(reserved_bytes);
}

RandomId ExportRegistry::put(Owner owner, std::uint64_t bytes, bool is_acknowledging, std::string_view peer) {
  std::unique_ptr<Lease> lease = make_lease(std::move(owner), bytes, is_acknowledging, peer);
  lease->facts.made = state_->now();
  const RandomId id = lease->facts.id;
  state_->put(std::move(lease));
  return id;
}

bool ExportRegistry::release(const RandomId& id, LeaseEnd end) {
  return state_->end_one(id, end);
}

std::size_t ExportRegistry::release_named(std::string_view header) {
  std::size_t ended = 0;
  while (!header.empty()) {
    const std::string_view entry = header.substr(0, header.find(','));
    header.remove_prefix(std::min(entry.size() + 1, header.size()));
    if (const std::optional<RandomId> id = RandomId::parse_hex(entry)) {
      ended += release(*id) ? 1 : 0;
    }
  }
  return ended;
}

std::size_t ExportRegistry::supersede() {
  return state_->end_many(LeaseEnd::kSuperseded, {}, SIZE_MAX);
}

std::size_t ExportRegistry::reap_expired(Clock::Instant now, std::size_t limit) {
  return state_->end_many(LeaseEnd::kExpired, now, limit);
}

Clock::Instant ExportRegistry::next_expiry() const {
  return state_->next_expiry();
}

std::optional<Clock::Instant> ExportRegistry::wait_for_lease(const std::stop_token& stop) {
  return state_->wait_for_lease(stop);
}

std::size_t ExportRegistry::drain() {
  return state_->end_many(LeaseEnd::kDrained, {}, SIZE_MAX);
}

RegistryStats ExportRegistry::stats() const {
  return state_->stats();
}

std::vector<LeaseInfo> ExportRegistry::leases(std::size_t limit) const {
  const std::vector<LeaseFacts> facts = state_->facts(limit);
  const Clock::Instant now = state_->now();
  std::vector<LeaseInfo> infos;
  infos.reserve(facts.size());
  for (const LeaseFacts& lease : facts) {
    infos.push_back(info_of(lease, now));
  }
  return infos;
}

}  // namespace tessera
