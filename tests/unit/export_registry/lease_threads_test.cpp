// Many threads at one registry.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "support/manual_clock.h"
#include "tessera/export_registry/export_registry.h"
#include "watched_owner.h"

namespace tessera {
namespace {

using std::chrono::nanoseconds;
using testing::ended;
using testing::ManualClock;
using testing::owner_that_calls;

template <class Work>
void run_in_threads(int count, Work work) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&work, i] { work(i); });
  }
}

TEST(LeaseThreadsTest, EachLeaseEndsOnceWhoeverEndsIt) {
  constexpr int kLeases = 2000;
  ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(0)}, clock);
  std::vector<std::atomic<int>> times_gone(kLeases);
  std::string header;
  for (std::atomic<int>& times : times_gone) {
    header +=
        registry.put(owner_that_calls([&times] { ++times; }), 1, &times - times_gone.data() < 1000, "").hex() + ",";
  }
  std::atomic<std::size_t> sum{0};
  run_in_threads(5, [&](int thread) {
    sum += thread == 0   ? registry.reap_expired(clock.now(), 600)
           : thread == 1 ? registry.supersede()
           : thread == 2 ? registry.drain()
                         : registry.release_named(header);
  });
  EXPECT_EQ(sum, static_cast<std::size_t>(kLeases));
  EXPECT_EQ(ended(registry), static_cast<std::uint64_t>(kLeases));
  EXPECT_TRUE(std::all_of(times_gone.begin(), times_gone.end(), [](const auto& times) { return times == 1; }));
}

TEST(LeaseThreadsTest, CountsAreConsistentAtEachMoment) {
  const ManualClock clock;
  ExportRegistry registry({.limit_bytes = 100'000}, clock);
  std::atomic<int> working{3};
  run_in_threads(4, [&](int thread) {
    if (thread == 3) {
      while (working > 0) {
        const RegistryStats stats = registry.stats();
        std::uint64_t all = stats.leases;
        for (const std::uint64_t count : stats.ended) {
          all += count;
        }
        ASSERT_EQ(stats.made, all);
        ASSERT_EQ(stats.bytes, 7 * stats.leases);
        ASSERT_LE(stats.bytes + stats.reserved_bytes, 100'000U);
      }
      return;
    }
    for (int i = 0; i < 3000; ++i) {
      ASSERT_TRUE(registry.try_reserve(7));
      const RandomId id = registry.put(nullptr, 7, thread == 0, "");
      if (thread == 1) {
        registry.supersede();
      } else {
        registry.release(id);
      }
    }
    --working;
  });
  registry.drain();
  EXPECT_EQ(registry.stats().bytes, 0U);
  EXPECT_EQ(registry.stats().reserved_bytes, 0U);
}

TEST(LeaseThreadsTest, ReservationsOfManyNeverPassTheLimit) {
  const ManualClock clock;
  ExportRegistry registry({.limit_bytes = 1000}, clock);
  std::atomic<int> granted{0};
  run_in_threads(4, [&](int) {
    for (int i = 0; i < 1000; ++i) {
      granted += registry.try_reserve(3) ? 1 : 0;
    }
  });
  EXPECT_EQ(granted, 333);
  EXPECT_EQ(registry.stats().reserved_bytes, 999U);
}

TEST(LeaseThreadsTest, ListsEveryLeaseThatStaysWhileOthersEnd) {
  const ManualClock clock;
  ExportRegistry registry({}, clock);
  std::set<std::string> staying;
  std::vector<RandomId> ending;
  for (int i = 0; i < 5000; ++i) {
    const RandomId id = registry.put(nullptr, 1, true, i % 25 == 0 ? "stays" : "ends");
    if (i % 25 == 0) {
      staying.insert(id.hex().substr(0, 8));
    } else {
      ending.push_back(id);
    }
  }
  std::atomic<bool> is_over{false};
  run_in_threads(2, [&](int thread) {
    if (thread == 0) {
      for (const RandomId& id : ending) {
        registry.release(id);
      }
      is_over = true;
      return;
    }
    do {
      std::vector<std::string> seen;
      for (const LeaseInfo& lease : registry.leases(5000)) {
        if (lease.peer == "stays") {
          seen.push_back(lease.short_id);
        }
      }
      ASSERT_EQ(std::set<std::string>(seen.begin(), seen.end()), staying);
      ASSERT_EQ(seen.size(), staying.size());
    } while (!is_over);
  });
}

// The longest that another thread waited for the counts while a million leases were reaped.
nanoseconds longest_wait_during_reap() {
  ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(1)}, clock);
  for (int i = 0; i < 1'000'000; ++i) {
    static_cast<void>(registry.put(nullptr, 1, true, ""));
  }
  clock.advance(nanoseconds(1));
  std::atomic<bool> is_looking{false};
  nanoseconds longest(0);
  std::jthread looker([&] {
    while (true) {
      const auto before = std::chrono::steady_clock::now();
      const RegistryStats stats = registry.stats();
      longest = std::max<nanoseconds>(longest, std::chrono::steady_clock::now() - before);
      is_looking = true;
      is_looking.notify_one();
      if (stats.leases == 0) {
        return;
      }
    }
  });
  is_looking.wait(false);
  EXPECT_EQ(registry.reap_expired(clock.now()), 1'000'000U);
  looker.join();
  return longest;
}

TEST(LeaseThreadsTest, OthersWaitShortlyWhileMillionIsReaped) {
  constexpr nanoseconds kBound = std::chrono::milliseconds(20);
  nanoseconds longest = nanoseconds::max();
  // A busy machine may take the processor away from either thread for longer than that.
  for (int round = 0; round < 5 && longest >= kBound; ++round) {
    longest = longest_wait_during_reap();
    std::cout << "waited " << longest.count() / 1000 << " us at most\n";
  }
  EXPECT_LT(longest, kBound);
}

}  // namespace
}  // namespace tessera
