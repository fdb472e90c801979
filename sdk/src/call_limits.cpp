#include "call_limits.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

[[noreturn]] void throw_timeout(std::string_view what, milliseconds limit) {
  throw ClientError(ClientError::Kind::kTimeout,
                    std::string(what) + " took longer than " + std::to_string(limit.count()) + " ms");
}

[[noreturn]] void throw_cancelled() {
  throw ClientError(ClientError::Kind::kCancelled, "the call was cancelled");
}

// Longer than anybody waits, and far from where instants end.
constexpr milliseconds kLongestLimit = std::chrono::hours(24 * 365);

std::optional<milliseconds> bounded(const std::optional<milliseconds>& limit) {
  return limit ? std::optional(std::min(*limit, kLongestLimit)) : std::nullopt;
}

// For poll(2): rounded up, so that it does not wake too soon.
int poll_milliseconds(steady_clock::duration left) {
  constexpr milliseconds kLongest{1'000'000'000};
  return static_cast<int>(std::clamp(std::chrono::ceil<milliseconds>(left), milliseconds(0), kLongest).count());
}

constexpr int kSignalMilliseconds = 200;

}  // namespace

CallLimits::CallLimits(const Timeouts& timeouts, std::optional<Cancellation> cancellation,
                       std::function<void()> on_signal)
    : timeouts_{bounded(timeouts.connect), bounded(timeouts.read), bounded(timeouts.total)},
      cancellation_(std::move(cancellation)),
      on_signal_(std::move(on_signal)),
      next_signal_check_(on_signal_ ? steady_clock::now() + milliseconds(kSignalMilliseconds) : Instant()) {
  if (timeouts_.total) {
    end_ = steady_clock::now() + *timeouts_.total;
  }
}

void CallLimits::check() const {
  if (on_signal_) {
    const Instant now = steady_clock::now();
    if (now >= next_signal_check_) {
      next_signal_check_ = now + milliseconds(kSignalMilliseconds);
      on_signal_();
    }
  }
  if (cancellation_ && cancellation_->is_cancelled()) {
    throw_cancelled();
  }
  if (end_ && steady_clock::now() >= *end_) {
    throw_timeout("the call", timeouts_.total.value_or(milliseconds(0)));
  }
}

short CallLimits::wait(int descriptor, short events, Phase phase) const {
  const std::optional<milliseconds>& step = phase == Phase::kConnect ? timeouts_.connect : timeouts_.read;
  const Instant begin = step || end_ ? steady_clock::now() : Instant();
  return wait_since(begin, descriptor, events, phase, std::nullopt);
}

void CallLimits::pause_connecting(Instant begin) const {
  constexpr milliseconds kPause{5};
  static_cast<void>(wait_since(begin, -1, 0, Phase::kConnect, kPause));
}

// Without `longest` until one of the events holds; with it at most so long, and then 0 is returned.
short CallLimits::wait_since(Instant begin, int descriptor, short events, Phase phase,
                             std::optional<milliseconds> longest) const {
  const std::optional<milliseconds>& step = phase == Phase::kConnect ? timeouts_.connect : timeouts_.read;
  const bool is_limited = step || end_ || longest;
  std::array<pollfd, 2> waited{pollfd{descriptor, events, 0}, pollfd{-1, POLLIN, 0}};
  if (cancellation_) {
    waited[1].fd = cancellation_->descriptor();
  }
  while (true) {
    int timeout = -1;
    if (is_limited) {
      const Instant now = steady_clock::now();
      if (end_ && now >= *end_) {
        throw_timeout("the call", timeouts_.total.value_or(milliseconds(0)));
      }
      if (step && now >= begin + *step) {
        throw_timeout(phase == Phase::kConnect ? "connecting" : "waiting for the server", *step);
      }
      steady_clock::duration left = steady_clock::duration::max();
      if (end_) {
        left = *end_ - now;
      }
      if (step) {
        left = std::min<steady_clock::duration>(left, begin + *step - now);
      }
      if (longest) {
        left = std::min<steady_clock::duration>(left, *longest);
      }
      timeout = poll_milliseconds(left);
    }
    // A signal that came just before poll(2) does not end it.
    const bool is_slice = on_signal_ && (timeout < 0 || timeout > kSignalMilliseconds);
    timeout = is_slice ? kSignalMilliseconds : timeout;
    const int ready = poll(waited.data(), waited.size(), timeout);
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    if ((ready < 0 || (ready == 0 && is_slice)) && on_signal_) {
      on_signal_();
    }
    if (ready > 0) {
      if (waited[1].revents != 0) {
        throw_cancelled();
      }
      return waited[0].revents;
    }
    if (ready == 0 && !is_slice && longest) {
      return 0;
    }
  }
}

}  // namespace tessera
