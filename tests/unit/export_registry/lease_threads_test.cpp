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

#include "many_leases.h"
#include "support/manual_clock.h"
#include "tessera/export_registry/export_registry.h"
#include "watched_owner.h"

namespace tessera {
namespace {

using std::chrono::nanoseconds;
using std::chrono::steady_clock;
using testing::ended;
using testing::kManyLeases;
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
  const ManualClock clock;
  std::vector<std::atomic<int>> times_gone(kLeases);
  ExportRegistry registry({.lifetime = nanoseconds(0)}, clock);
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
  EXPECT_TRUE(std::ranges::all_of(times_gone, [](const auto& times) { return times == 1; }));
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

struct ReapTimes {
  nanoseconds whole;
  nanoseconds longest_wait;  ///< of another thread, for the counts
};

ReapTimes reap_many_while_another_looks() {
  ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(1)}, clock);
  for (std::uint64_t i = 0; i < kManyLeases; ++i) {
    static_cast<void>(registry.put(nullptr, 1, true, ""));
  }
  clock.advance(nanoseconds(1));
  std::atomic<bool> is_looking{false};
  nanoseconds longest(0);
  std::jthread looker([&] {
    std::uint64_t left = kManyLeases;
    while (left > 0) {
      const auto before = steady_clock::now();
      left = registry.stats().leases;
      longest = std::max<nanoseconds>(longest, steady_clock::now() - before);
      is_looking = true;
      is_looking.notify_one();
    }
  });
  is_looking.wait(false);
  const auto before = steady_clock::now();
  EXPECT_EQ(registry.reap_expired(clock.now()), kManyLeases);
  const nanoseconds whole = steady_clock::now() - before;
  looker.join();
  return {.whole = whole, .longest_wait = longest};
}

// A busy machine may take the processor away from either thread for longer than the lock is ever held, so that the
// bound is generous, and one good round is enough. (How much is done under one hold is tested exactly: LeaseTimesTest.)
TEST(LeaseThreadsTest, OthersWaitShortlyWhileManyAreReaped) {
  bool is_short = false;
  for (int round = 0; round < 5 && !is_short; ++round) {
    const ReapTimes times = reap_many_while_another_looks();
    std::cout << "waited " << times.longest_wait.count() / 1000 << " us at most while " << kManyLeases
              << " leases were reaped in " << times.whole.count() / 1000 << " us\n";
    is_short = times.longest_wait < std::max<nanoseconds>(std::chrono::milliseconds(20), times.whole / 4);
  }
  EXPECT_TRUE(is_short);
}

}  // namespace
}  // namespace tessera
