#include "tessera/export_registry/reaper.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

#include "tessera/base/mutex.h"

namespace tessera {
namespace {

// A clock that stands still just before the time must not make us run in circles.
constexpr std::chrono::nanoseconds kShortestWait = std::chrono::milliseconds(1);
// The sums that a wait needs must not overflow.
constexpr std::chrono::nanoseconds kLongestWait = std::chrono::hours(1);
// Between two parts of a large reap we look whether to stop.
constexpr std::size_t kReapedAtOnce = 4096;

}  // namespace

class Reaper::Thread {
 public:
  Thread(ExportRegistry& registry, const Clock& clock, std::function<void(std::size_t)> when_reaped)
      : registry_(registry),
        clock_(clock),
        when_reaped_(std::move(when_reaped)),
        thread_([this](const std::stop_token& stop) { run(stop); }) {}

 private:
  void run(const std::stop_token& stop) {
    while (const std::optional<Clock::Instant> expiry = registry_.wait_for_lease(stop)) {
      const Clock::Instant now = clock_.now();
      if (*expiry > now) {
        // All leases live as long, so what is put meanwhile is not due before that.
        sleep(*expiry > now + kLongestWait ? kLongestWait : std::max(kShortestWait, *expiry - now), stop);
      } else if (const std::size_t count = registry_.reap_expired(now, kReapedAtOnce); count > 0) {
        when_reaped_(count);
      }
    }
  }

  void sleep(std::chrono::nanoseconds time, const std::stop_token& stop) {
    const MutexLock lock(mutex_);
    wake_.wait_for(mutex_, stop, time, [] { return false; });
  }

  ExportRegistry& registry_;
  const Clock& clock_;
  std::function<void(std::size_t)> when_reaped_;
  Mutex mutex_;
  std::condition_variable_any wake_;
  std::jthread thread_;  // the last, since it uses the others
};

Reaper::Reaper(ExportRegistry& registry, const Clock& clock, std::function<void(std::size_t)> when_reaped)
    : thread_(std::make_unique<Thread>(registry, clock, std::move(when_reaped))) {}

Reaper::~Reaper() = default;

}  // namespace tessera
