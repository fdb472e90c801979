// How long one call may wait, and what ends it sooner.
#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include "tessera/sdk/cancellation.h"
#include "tessera/sdk/client_options.h"

namespace tessera {

/// Made at the start of a call. One thread at a time.
class CallLimits {
 public:
  CallLimits(const Timeouts& timeouts, std::optional<Cancellation> cancellation, std::function<void()> on_signal);

  enum class Phase { kConnect, kTransfer };
  /// Waits until one of `events` (poll(2)) holds for the descriptor; returns those that hold. Throws ClientError
  /// (kTimeout, kCancelled), or what on_signal throws.
  [[nodiscard]] short wait(int descriptor, short events, Phase phase) const;
  /// Throws kCancelled if the switch was set, or kTimeout if the whole call took too long, and asks for signals now and
  /// then: for what goes on without a wait.
  void check() const;
  /// Waits a moment, before connecting is tried again; `begin` is when it was tried first. Throws like wait().
  void pause_connecting(std::chrono::steady_clock::time_point begin) const;

 private:
  using Instant = std::chrono::steady_clock::time_point;

  [[nodiscard]] short wait_since(Instant begin, int descriptor, short events, Phase phase,
                                 std::optional<std::chrono::milliseconds> longest) const;

  Timeouts timeouts_;
  std::optional<Instant> end_;
  std::optional<Cancellation> cancellation_;
  std::function<void()> on_signal_;
  mutable Instant next_signal_check_;  // by check(); where there is no wait, nothing else asks
};

}  // namespace tessera
