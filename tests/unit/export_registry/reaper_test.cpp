#include "tessera/export_registry/reaper.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <iostream>
#include <thread>

#include "support/manual_clock.h"
#include "tessera/base/mutex.h"
#include "watched_owner.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::ManualClock;

/// Counts how often it is asked; else another clock.
class CountingClock final : public Clock {
 public:
  explicit CountingClock(const Clock& clock) : clock_(clock) {}
  [[nodiscard]] Instant now() const override {
    ++calls_;
    calls_.notify_all();
    return clock_.now();
  }
  [[nodiscard]] WallTime wall_now() const override { return clock_.wall_now(); }

  [[nodiscard]] int calls() const { return calls_; }
  void wait_for_calls(int count) const {
    for (int seen = calls_; seen < count; seen = calls_) {
      calls_.wait(seen);
    }
  }

 private:
  const Clock& clock_;
  mutable std::atomic<int> calls_{0};
};

/// Adds up what the reaper says, and can be waited for.
class Reaped {
 public:
  void operator()(std::size_t count) {
    sum_ += count;
    sum_.notify_all();
  }
  void wait_for(std::size_t count) const {
    for (std::size_t seen = sum_; seen < count; seen = sum_) {
      sum_.wait(seen);
    }
  }
  [[nodiscard]] std::size_t sum() const { return sum_; }

 private:
  std::atomic<std::size_t> sum_{0};
};

TEST(ReaperTest, ReapsOnTimeWithoutAnyRequest) {
  constexpr milliseconds kLifetime(50);
  const SystemClock clock;
  ExportRegistry registry({.lifetime = kLifetime}, clock);
  Reaped reaped;
  const Reaper reaper(registry, clock, std::ref(reaped));
  nanoseconds least_late = nanoseconds::max();
  // A busy machine may be late itself.
  for (std::size_t round = 1; round <= 5 && least_late > milliseconds(10); ++round) {
    std::promise<steady_clock::time_point> gone;
    const auto before = steady_clock::now();
    static_cast<void>(
        registry.put(testing::owner_that_calls([&gone] { gone.set_value(steady_clock::now()); }), 1, true, ""));
    const nanoseconds age = gone.get_future().get() - before;
    EXPECT_GE(age, kLifetime);
    least_late = std::min(least_late, age - kLifetime);
    reaped.wait_for(round);
  }
  std::cout << "late by " << least_late.count() / 1000 << " us\n";
  EXPECT_LE(least_late, milliseconds(10));
}

TEST(ReaperTest, ReapsWhatWasThereBefore) {
  const SystemClock clock;
  ExportRegistry registry({.lifetime = milliseconds(1)}, clock);
  for (int i = 0; i < 10'000; ++i) {
    static_cast<void>(registry.put(nullptr, 1, i % 2 == 0, ""));
  }
  Reaped reaped;
  const Reaper reaper(registry, clock, std::ref(reaped));
  reaped.wait_for(10'000);
  EXPECT_EQ(testing::ended(registry, LeaseEnd::kExpired), 10'000U);
  EXPECT_EQ(reaped.sum(), 10'000U);
}

TEST(ReaperTest, ReapsEachOfSeveralOneAfterTheOther) {
  const SystemClock clock;
  ExportRegistry registry({.lifetime = milliseconds(5)}, clock);
  Reaped reaped;
  const Reaper reaper(registry, clock, std::ref(reaped));
  for (std::size_t i = 1; i <= 20; ++i) {
    static_cast<void>(registry.put(nullptr, 1, true, ""));
    if (i % 3 == 0) {
      reaped.wait_for(i);
    }
  }
  reaped.wait_for(20);
  EXPECT_EQ(registry.stats().leases, 0U);
}

TEST(ReaperTest, EndsPromptlyWithAndWithoutLeases) {
  const ManualClock clock;
  ExportRegistry registry({.lifetime = seconds(300)}, clock);
  const CountingClock counting(clock);
  Reaped reaped;
  const auto before = steady_clock::now();
  {
    const Reaper idle(registry, counting, std::ref(reaped));
  }
  static_cast<void>(registry.put(nullptr, 1, true, ""));
  {
    const Reaper waiting(registry, counting, std::ref(reaped));
    counting.wait_for_calls(1);
  }
  EXPECT_LT(steady_clock::now() - before, seconds(100));
  EXPECT_EQ(reaped.sum(), 0U);
  EXPECT_EQ(registry.stats().leases, 1U);
}

TEST(ReaperTest, EndsPromptlyAmongManyExpiredLeases) {
  const ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(0)}, clock);
  std::promise<void> is_reaping;
  std::promise<void> may_go_on;
  static_cast<void>(registry.put(testing::owner_that_calls([&] {
                                   is_reaping.set_value();
                                   may_go_on.get_future().wait();
                                 }),
                                 1, true, ""));
  for (int i = 0; i < 100'000; ++i) {
    static_cast<void>(registry.put(nullptr, 1, true, ""));
  }
  Reaped reaped;
  std::optional<Reaper> reaper;
  reaper.emplace(registry, clock, std::ref(reaped));
  is_reaping.get_future().wait();
  std::jthread end([&reaper] { reaper.reset(); });
  may_go_on.set_value();
  end.join();
  EXPECT_EQ(reaped.sum() + registry.stats().leases, 100'001U);
}

TEST(ReaperTest, IsWokenOnceInALifetime) {
  const SystemClock clock;
  ExportRegistry registry({.lifetime = seconds(300)}, clock);
  const CountingClock counting(clock);
  Reaped reaped;
  const Reaper reaper(registry, counting, std::ref(reaped));
  const auto put_and_release = [&registry] { registry.release(registry.put(nullptr, 1, true, "")); };
  while (counting.calls() == 0) {
    put_and_release();
  }
  for (int i = 0; i < 10'000; ++i) {
    put_and_release();
  }
  for (int i = 0; i < 10'000; ++i) {
    static_cast<void>(registry.put(nullptr, 1, true, ""));
  }
  EXPECT_EQ(counting.calls(), 1);
}

TEST(ReaperTest, DoesNotRunInCirclesWhileClockStandsStill) {
  ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(1)}, clock);
  const CountingClock counting(clock);
  Reaped reaped;
  const auto before = steady_clock::now();
  const Reaper reaper(registry, counting, std::ref(reaped));
  static_cast<void>(registry.put(nullptr, 1, true, ""));
  counting.wait_for_calls(10);
  EXPECT_GE(steady_clock::now() - before, milliseconds(9));
  EXPECT_EQ(reaped.sum(), 0U);
  clock.advance(nanoseconds(1));
  reaped.wait_for(1);
}

TEST(ReaperTest, LeavesLeasesWithoutEndAlone) {
  const SystemClock clock;
  ExportRegistry registry({.lifetime = nanoseconds::max()}, clock);
  const CountingClock counting(clock);
  Reaped reaped;
  const Reaper reaper(registry, counting, std::ref(reaped));
  static_cast<void>(registry.put(nullptr, 1, true, ""));
  counting.wait_for_calls(1);
  EXPECT_EQ(registry.stats().leases, 1U);
}

TEST(ReaperTest, ReapsAtOnceWithoutLifetime) {
  const ManualClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(0)}, clock);
  Reaped reaped;
  const Reaper reaper(registry, clock, std::ref(reaped));
  for (std::size_t i = 1; i <= 100; ++i) {
    static_cast<void>(registry.put(nullptr, 1, true, ""));
    reaped.wait_for(i);
  }
}

TEST(ReaperTest, TakesNoLeaseFromThoseWhoNameThem) {
  const SystemClock clock;
  ExportRegistry registry({.lifetime = nanoseconds(100'000)}, clock);
  Reaped reaped;
  std::size_t named = 0;
  {
    const Reaper reaper(registry, clock, std::ref(reaped));
    for (int i = 0; i < 20'000; ++i) {
      named += registry.release_named(registry.put(nullptr, 1, true, "").hex());
    }
    reaped.wait_for(20'000 - named);
  }
  EXPECT_EQ(reaped.sum() + named, 20'000U);
  EXPECT_EQ(testing::ended(registry, LeaseEnd::kNamed), named);
}

}  // namespace
}  // namespace tessera
