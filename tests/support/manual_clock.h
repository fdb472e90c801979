// A clock that stands still until a test moves it.
#pragma once

#include <atomic>
#include <chrono>

#include "tessera/base/clock.h"

namespace tessera::testing {

/// Starts at 2026-01-01T00:00:00Z, one hour after the start of the machine. Safe to call from any thread.
class ManualClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override { return Instant(std::chrono::hours(1)) + passed_.load(); }
  [[nodiscard]] WallTime wall_now() const override { return kStart + passed_.load(); }

  /// Moves both clocks on.
  void advance(std::chrono::nanoseconds time) { passed_.store(passed_.load() + time); }

 private:
  static constexpr WallTime kStart = std::chrono::sys_days(
      std::chrono::year_month_day(std::chrono::year(2026), std::chrono::January, std::chrono::day(1)));

  std::atomic<std::chrono::nanoseconds> passed_{std::chrono::nanoseconds(0)};
};

}  // namespace tessera::testing
