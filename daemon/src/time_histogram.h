// Counts durations in buckets that double: for Prometheus.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tessera {

/// What several histograms hold together. A plain value.
struct HistogramCounts {
  /// Bucket i holds what took 2^i µs or less, and more than the one before; the last one everything above.
  static constexpr std::size_t kBuckets = 28;

  std::array<std::uint64_t, kBuckets> counts{};
  std::uint64_t sum_ns = 0;
};

/// Safe to use from any thread; adding costs two atomic additions.
class TimeHistogram {
 public:
  void add(std::chrono::nanoseconds time) {
    const auto nanoseconds = static_cast<std::uint64_t>(time.count() > 0 ? time.count() : 0);
    counts_[bucket_of(nanoseconds)].fetch_add(1, std::memory_order_relaxed);
    sum_ns_.fetch_add(nanoseconds, std::memory_order_relaxed);
  }
  void add_to(HistogramCounts& all) const {
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      all.counts[i] += counts_[i].load(std::memory_order_relaxed);
    }
    all.sum_ns += sum_ns_.load(std::memory_order_relaxed);
  }

 private:
  static std::size_t bucket_of(std::uint64_t nanoseconds) {
    const std::uint64_t begun_microseconds = nanoseconds / 1000 + static_cast<std::uint64_t>(nanoseconds % 1000 != 0);
    const std::size_t bucket =
        begun_microseconds < 2 ? 0 : static_cast<std::size_t>(std::bit_width(begun_microseconds - 1));
    return bucket < counts_bound() ? bucket : counts_bound() - 1;
  }
  static constexpr std::size_t counts_bound() { return HistogramCounts::kBuckets; }

  std::array<std::atomic<std::uint64_t>, HistogramCounts::kBuckets> counts_{};
  std::atomic<std::uint64_t> sum_ns_{0};
};

}  // namespace tessera
