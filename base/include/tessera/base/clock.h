// Time as something that is handed in, so that tests can move it.
#pragma once

#include <chrono>

namespace tessera {

/// Tells the time. Implementations are safe to call from any thread.
class Clock {
 public:
  using Instant = std::chrono::steady_clock::time_point;
  using WallTime = std::chrono::system_clock::time_point;

  Clock() = default;
  Clock(const Clock&) = delete;
  Clock& operator=(const Clock&) = delete;
  virtual ~Clock() = default;

  /// Returns a time that never goes backwards; for ages and deadlines.
  [[nodiscard]] virtual Instant now() const = 0;
  /// Returns the calendar time; for logs, metrics and file ages.
  [[nodiscard]] virtual WallTime wall_now() const = 0;
};

/// The machine's clocks. Safe to call from any thread. Programs and tests make one and hand it on; library code is
/// given one.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Instant now() const override;
  [[nodiscard]] WallTime wall_now() const override;
};

}  // namespace tessera
