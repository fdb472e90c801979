// What a daemon has done and does, as text for Prometheus (GET /metrics).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "limit_counters.h"
#include "request_report.h"
#include "router.h"
#include "server_load.h"
#include "tessera/base/clock.h"
#include "time_histogram.h"

namespace tessera {

/// Safe to use from any thread. Counting takes no lock, and threads rarely share what they count in.
class Metrics {
 public:
  /// `tesseracts` are the names that routes refer to by position.
  Metrics(std::vector<std::string> tesseracts, Clock::WallTime start);

  /// Counts an answer, and the arrays of its request and in it.
  void count_answer(const RequestReport& report);
  /// Counts the times and bytes of a request that is over.
  void count_end(const RequestReport& report);
  [[nodiscard]] LimitCounters& limits() { return limits_; }
  /// The text exposition format, version 0.0.4. `load` may be null.
  [[nodiscard]] std::string to_text(const LoadSource* load) const;

 private:
  static constexpr int kLowestStatus = 100;
  static constexpr int kHighestStatus = 599;
  using Count = std::atomic<std::uint64_t>;
  using StatusCounts = std::array<Count, kHighestStatus - kLowestStatus + 1>;
  using ArrayCounts = std::array<Count, kArrayEncodingCount>;

  /// What some of the threads count in.
  struct alignas(64) Shard {
    std::array<std::array<TimeHistogram, kRequestPartCount>, kRouteKindCount> parts;
    std::unique_ptr<TimeHistogram[]> whole;  // by series
    Count received_bytes{0};
    Count sent_bytes{0};
    ArrayCounts arrays_in{};
    ArrayCounts arrays_out{};
  };

  [[nodiscard]] Shard& shard_of_this_thread();
  [[nodiscard]] std::size_t series_count() const { return (tesseracts_.size() + 1) * kRouteKindCount; }
  [[nodiscard]] static std::size_t series_of(const Route& route);
  /// `tesseract="…",endpoint="…"`
  [[nodiscard]] std::string labels_of(std::size_t series) const;
  template <class Pick>
  [[nodiscard]] std::uint64_t sum_of(Pick pick) const;

  void append_process(std::string& text) const;
  static void append_load(std::string& text, const ServerLoad& load);
  void append_requests(std::string& text) const;
  void append_times(std::string& text) const;
  void append_bytes(std::string& text) const;
  void append_limits(std::string& text) const;

  std::vector<std::string> tesseracts_;
  Clock::WallTime start_;
  std::unique_ptr<StatusCounts[]> statuses_;  // one for each pair of Tesseract (none is the first) and kind of route
  std::vector<Shard> shards_;
  Count cut_off_{0};
  LimitCounters limits_;
};

}  // namespace tessera
