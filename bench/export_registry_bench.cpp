// Micro benchmarks of the registry of exports: put and release, ends of many, bytes of each.
//
// A label is the floor: what a mutex around an unordered_map took for one operation, and a random id, on a machine of
// two cores when the project began. Nothing is known for the bytes of a lease and for lists.

#include <benchmark/benchmark.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <vector>

#include "tessera/export_registry/export_registry.h"

namespace tessera {
namespace {

constexpr std::size_t kMillion = 1'000'000;

const SystemClock& the_clock() {
  static const SystemClock kClock;
  return kClock;
}

// Of one lease that is put and released: two operations, and an id.
constexpr const char* kFloorOfLease = "floor 220 ns (an id 89, two operations 67 each)";
constexpr const char* kFloorOfEnd = "floor 15 M/s (mutex and unordered_map)";

// All leases have one owner, so what is measured is the registry.
const ExportRegistry::Owner& the_owner() {
  static const ExportRegistry::Owner kOwner = std::make_shared<int>(0);
  return kOwner;
}

void fill(ExportRegistry& registry, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    static_cast<void>(registry.put(the_owner(), 1, true, "127.0.0.1"));
  }
}

// A lease that is released at once, among others.
void put_and_release(benchmark::State& state) {
  ExportRegistry registry({}, the_clock());
  fill(registry, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    benchmark::DoNotOptimize(registry.release(registry.put(the_owner(), 1, true, "127.0.0.1")));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  state.SetLabel(kFloorOfLease);
}
BENCHMARK(put_and_release)->Arg(0)->Arg(1000)->Arg(kMillion);

// The oldest of so many is released, so nothing of it is in the caches any more.
void put_and_release_oldest(benchmark::State& state) {
  ExportRegistry registry({}, the_clock());
  std::vector<RandomId> ids(static_cast<std::size_t>(state.range(0)));
  for (RandomId& id : ids) {
    id = registry.put(the_owner(), 1, true, "127.0.0.1");
  }
  std::size_t oldest = 0;
  for (auto _ : state) {
    const RandomId id = registry.put(the_owner(), 1, true, "127.0.0.1");
    benchmark::DoNotOptimize(registry.release(ids[oldest]));
    ids[oldest] = id;
    oldest = oldest + 1 == ids.size() ? 0 : oldest + 1;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()));
  state.SetLabel(kFloorOfLease);
}
BENCHMARK(put_and_release_oldest)->Arg(1000)->Arg(kMillion);

// A header of 64 KiB.
void release_named(benchmark::State& state) {
  ExportRegistry registry({}, the_clock());
  for (auto _ : state) {
    state.PauseTiming();
    std::string header;
    for (int i = 0; i < 1985; ++i) {
      header += registry.put(the_owner(), 1, true, "127.0.0.1").hex() + ",";
    }
    state.ResumeTiming();
    benchmark::DoNotOptimize(registry.release_named(header));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * 1985);
  state.SetLabel(kFloorOfEnd);
}
BENCHMARK(release_named);

// One lease is superseded, a million of others stays.
void put_and_supersede(benchmark::State& state) {
  ExportRegistry registry({}, the_clock());
  fill(registry, static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) {
    static_cast<void>(registry.put(the_owner(), 1, false, "127.0.0.1"));
    benchmark::DoNotOptimize(registry.supersede());
  }
  state.SetLabel(kFloorOfLease);
}
BENCHMARK(put_and_supersede)->Arg(0)->Arg(kMillion);

double milliseconds_of(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

// Notes the longest time between two ends of owners. The lock is held between the last of one batch and the first of
// the next, and at no other time, so no hold is longer than that.
class Gaps {
 public:
  void begin() { last_ = {milliseconds_of(CLOCK_MONOTONIC), milliseconds_of(CLOCK_THREAD_CPUTIME_ID)}; }
  void note() {
    const Times now = {milliseconds_of(CLOCK_MONOTONIC), milliseconds_of(CLOCK_THREAD_CPUTIME_ID)};
    longest_ = {std::max(longest_.wall, now.wall - last_.wall), std::max(longest_.cpu, now.cpu - last_.cpu)};
    last_ = now;
  }
  [[nodiscard]] double longest_wall() const { return longest_.wall; }
  [[nodiscard]] double longest_cpu() const { return longest_.cpu; }

 private:
  struct Times {
    double wall = 0;
    double cpu = 0;
  };
  Times last_;
  Times longest_;
};

// The counters are of the worst round; the wall time has in it what the machine gave to others meanwhile.
void reap_million(benchmark::State& state, bool is_timed) {
  Gaps gaps;
  for (auto _ : state) {
    state.PauseTiming();
    ExportRegistry registry({.lifetime = std::chrono::nanoseconds(0)}, the_clock());
    for (std::size_t i = 0; i < kMillion; ++i) {
      static_cast<void>(registry.put(
          is_timed ? ExportRegistry::Owner(nullptr, [&gaps](void*) { gaps.note(); }) : the_owner(), 1, true, ""));
    }
    gaps.begin();
    state.ResumeTiming();
    benchmark::DoNotOptimize(registry.reap_expired(the_clock().now()));
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * static_cast<std::int64_t>(kMillion));
  state.SetLabel(kFloorOfEnd);
  if (is_timed) {
    state.counters["longest_hold_ms_wall"] = gaps.longest_wall();
    state.counters["longest_hold_ms_cpu"] = gaps.longest_cpu();
  }
}
BENCHMARK_CAPTURE(reap_million, plain, false)->Unit(benchmark::kMillisecond)->Iterations(5);
BENCHMARK_CAPTURE(reap_million, holds, true)->Unit(benchmark::kMillisecond)->Iterations(5);

// By malloc's own books: blocks with their words, not only what was asked for.
void bytes_per_lease(benchmark::State& state) {
  double bytes = 0;
  for (auto _ : state) {
    ExportRegistry registry({}, the_clock());
    const std::size_t before = ::mallinfo2().uordblks;
    fill(registry, kMillion);
    bytes = static_cast<double>(::mallinfo2().uordblks - before) / static_cast<double>(kMillion);
  }
  state.counters["bytes"] = bytes;
}
BENCHMARK(bytes_per_lease)->Unit(benchmark::kMillisecond)->Iterations(1);

void list_million(benchmark::State& state) {
  ExportRegistry registry({}, the_clock());
  fill(registry, kMillion);
  for (auto _ : state) {
    benchmark::DoNotOptimize(registry.leases(static_cast<std::size_t>(state.range(0))));
  }
}
BENCHMARK(list_million)->Arg(100)->Arg(kMillion)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tessera
