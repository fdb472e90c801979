#include "tessera/base/clock.h"

namespace tessera {

Clock::Instant SystemClock::now() const {
  return std::chrono::steady_clock::now();
}

Clock::WallTime SystemClock::wall_now() const {
  return std::chrono::system_clock::now();
}

}  // namespace tessera
