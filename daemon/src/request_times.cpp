#include "request_times.h"

#include <numeric>

namespace tessera {

std::string_view name_of(RequestPart part) {
  constexpr std::array<std::string_view, kRequestPartCount> kNames{"receive", "decode", "wait",
                                                                   "compute", "encode", "send"};
  return kNames.at(static_cast<std::size_t>(part));
}

Clock::Instant::duration RequestTimes::whole() const {
  return std::accumulate(parts_.begin(), parts_.end(), Clock::Instant::duration{});
}

}  // namespace tessera
