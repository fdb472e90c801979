// Counts of what was answered, as text for Prometheus (GET /metrics).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "router.h"
#include "tessera/base/clock.h"

namespace tessera {

/// Safe to use from any thread; counting costs one atomic addition.
class Metrics {
 public:
  /// `tesseracts` are the names that routes refer to by position.
  Metrics(std::vector<std::string> tesseracts, Clock::WallTime start);

  /// Counts an answer.
  void count(const Route& route, int status);
  /// The text exposition format, version 0.0.4.
  [[nodiscard]] std::string to_text() const;

 private:
  static constexpr int kLowestStatus = 100;
  static constexpr int kHighestStatus = 599;
  using Counters = std::array<std::atomic<std::uint64_t>, kHighestStatus - kLowestStatus + 1>;

  [[nodiscard]] std::size_t series_of(const Route& route) const;

  std::vector<std::string> tesseracts_;
  Clock::WallTime start_;
  std::unique_ptr<Counters[]> series_;  // one for each pair of Tesseract (none is the first) and kind of route
};

}  // namespace tessera
