// When leases are too old, and how much is done at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "support/manual_clock.h"
#include "tessera/export_registry/export_registry.h"
#include "watched_owner.h"

namespace tessera {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;
using testing::ManualClock;
using testing::owner_that_calls;

void put_many(ExportRegistry& registry, std::size_t count, bool is_acknowledging) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<void>(registry.put(nullptr, 1, is_acknowledging, ""));
  }
}

TEST(LeaseTimesTest, ReapsLeaseExactlyAtItsLifetime) {
  const ManualClock clock;
  ExportRegistry registry({.lifetime = seconds(5)}, clock);
  const Clock::Instant made = clock.now();
  put_many(registry, 1, true);
  EXPECT_EQ(registry.next_expiry(), made + seconds(5));
  EXPECT_EQ(registry.reap_expired(made + seconds(5) - nanoseconds(1)), 0U);
  EXPECT_EQ(registry.reap_expired(made + seconds(5)), 1U);
  EXPECT_EQ(registry.next_expiry(), Clock::Instant::max());
}

TEST(LeaseTimesTest, ReapsInOrderOfMaking) {
  ManualClock clock;
  std::vector<int> gone;
  ExportRegistry registry({.lifetime = seconds(5)}, clock);
  for (int i = 0; i < 4; ++i) {
    static_cast<void>(registry.put(owner_that_calls([&gone, i] { gone.push_back(i); }), 1, i % 2 == 0, ""));
    clock.advance(seconds(1));
  }
  EXPECT_EQ(registry.reap_expired(clock.now() + seconds(3)), 3U);
  EXPECT_THAT(gone, ::testing::ElementsAre(0, 1, 2));
  EXPECT_EQ(registry.next_expiry(), clock.now() + seconds(4));
}

TEST(LeaseTimesTest, NextExpiryIsThatOfOldestLeft) {
  ManualClock clock;
  ExportRegistry registry({.lifetime = seconds(5)}, clock);
  const RandomId first = registry.put(nullptr, 1, true, "");
  clock.advance(seconds(1));
  put_many(registry, 1, true);
  registry.release(first);
  EXPECT_EQ(registry.next_expiry(), clock.now() + seconds(5));
}

TEST(LeaseTimesTest, ReapsNothingWhileClockStandsStill) {
  const ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(1)}, clock);
  put_many(registry, 10, true);
  EXPECT_EQ(registry.reap_expired(clock.now()), 0U);
  EXPECT_EQ(registry.reap_expired(clock.now() + nanoseconds(1)), 10U);
}

TEST(LeaseTimesTest, LifetimeOfNothingIsOverAtOnce) {
  const ManualClock clock;
  for (const nanoseconds lifetime : {nanoseconds(0), nanoseconds(-1), nanoseconds::min()}) {
    ExportRegistry registry({.lifetime = lifetime}, clock);
    const RandomId id = registry.put(nullptr, 1, true, "");
    EXPECT_EQ(registry.next_expiry(), clock.now());
    EXPECT_TRUE(registry.release(id));
    put_many(registry, 3, false);
    EXPECT_EQ(registry.reap_expired(clock.now()), 3U);
  }
}

TEST(LeaseTimesTest, LongestLifetimeIsNeverOver) {
  const ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds::max()}, clock);
  put_many(registry, 1, true);
  EXPECT_EQ(registry.next_expiry(), Clock::Instant::max());
  EXPECT_EQ(registry.reap_expired(clock.now() + std::chrono::hours(24 * 365 * 100)), 0U);
}

// A put of the reaped owners would keep a reaper of a registry without lifetimes for ever.
TEST(LeaseTimesTest, ReapsWhatWasThereAtFirst) {
  const ManualClock clock;
  int again = 1000;
  std::function<void()> put;
  ExportRegistry registry({.lifetime = nanoseconds(0)}, clock);
  put = [&] {
    if (again-- > 0) {
      static_cast<void>(registry.put(owner_that_calls(put), 1, true, ""));
    }
  };
  put();
  EXPECT_EQ(registry.reap_expired(clock.now()), 1U);
  EXPECT_EQ(registry.stats().leases, 1U);
  again = 0;
}

TEST(LeaseTimesTest, ReapsNoMoreThanAskedFor) {
  const ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(0)}, clock);
  put_many(registry, 1000, true);
  EXPECT_EQ(registry.reap_expired(clock.now(), 0), 0U);
  EXPECT_EQ(registry.reap_expired(clock.now(), 1), 1U);
  EXPECT_EQ(registry.reap_expired(clock.now(), 500), 500U);
  EXPECT_EQ(registry.reap_expired(clock.now()), 499U);
}

// How many leases had been unlinked but not yet destroyed, at most, as `end` ended 10,000.
template <class End>
std::uint64_t most_ended_at_once(End end) {
  constexpr std::uint64_t kLeases = 10'000;
  const ManualClock clock;
  std::uint64_t destroyed = 0;
  std::uint64_t most = 0;
  ExportRegistry registry({.lifetime = nanoseconds(0)}, clock);
  for (std::uint64_t i = 0; i < kLeases; ++i) {
    static_cast<void>(registry.put(owner_that_calls([&] {
                                     most = std::max(most, kLeases - registry.stats().leases - destroyed);
                                     ++destroyed;
                                   }),
                                   1, false, ""));
  }
  EXPECT_EQ(end(registry), kLeases);
  EXPECT_EQ(destroyed, kLeases);
  return most;
}

TEST(LeaseTimesTest, EndsFewLeasesUnderOneHoldOfTheLock) {
  EXPECT_LE(most_ended_at_once([](ExportRegistry& registry) { return registry.supersede(); }), 128U);
  EXPECT_LE(most_ended_at_once([](ExportRegistry& registry) { return registry.drain(); }), 128U);
  EXPECT_LE(most_ended_at_once([](ExportRegistry& registry) { return registry.reap_expired(registry.next_expiry()); }),
            128U);
}

}  // namespace
}  // namespace tessera
