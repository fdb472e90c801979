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

// For poll(2): rounded up, so that it does not wake too soon.
int poll_milliseconds(steady_clock::duration left) {
  constexpr milliseconds kLongest{1'000'000'000};
  return static_cast<int>(std::clamp(std::chrono::ceil<milliseconds>(left), milliseconds(0), kLongest).count());
}

}  // namespace

CallLimits::CallLimits(const Timeouts& timeouts, std::optional<Cancellation> cancellation,
                       std::function<void()> on_signal)
    : timeouts_(timeouts), cancellation_(std::move(cancellation)), on_signal_(std::move(on_signal)) {
  if (timeouts_.total) {
    end_ = steady_clock::now() + *timeouts_.total;
  }
}

void CallLimits::check_cancelled() const {
  if (cancellation_ && cancellation_->is_cancelled()) {
    throw_cancelled();
  }
}

short CallLimits::wait(int descriptor, short events, Phase phase) const {
  const std::optional<milliseconds>& step = phase == Phase::kConnect ? timeouts_.connect : timeouts_.read;
  const bool is_limited = step || end_;
  const Instant begin = is_limited ? steady_clock::now() : Instant();
  std::array<pollfd, 2> waited{pollfd{descriptor, events, 0}, pollfd{-1, POLLIN, 0}};
  if (cancellation_) {
    waited[1].fd = cancellation_->descriptor();
  }
  while (true) {
    int timeout = -1;
    if (is_limited) {
      const Instant now = steady_clock::now();
      if (end_ && now >= *end_) {
        throw_timeout("the call", *timeouts_.total);
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
      timeout = poll_milliseconds(left);
    }
    const int ready = poll(waited.data(), waited.size(), timeout);
    if (ready < 0 && errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "poll");
    }
    if (ready < 0 && on_signal_) {
      on_signal_();
    }
    if (ready > 0) {
      if (waited[1].revents != 0) {
        throw_cancelled();
      }
      return waited[0].revents;
    }
  }
}

}  // namespace tessera
