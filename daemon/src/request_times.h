// How long the parts of one request took.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "tessera/base/clock.h"

namespace tessera {

/// In the order in which they come; decoding and encoding may go on beside receiving and sending, piece by piece.
enum class RequestPart {
  kReceive,  ///< from the first byte of the head to the last of the body
  kDecode,   ///< route, checks, arrays
  kWait,     ///< for a worker, or for one of the threads that may decode or encode large bodies
  kCompute,  ///< the endpoint
  kEncode,
  kSend,  ///< until the system has taken the last byte
};
inline constexpr std::size_t kRequestPartCount = 6;

/// "receive", "decode", …
[[nodiscard]] std::string_view name_of(RequestPart part);

/// Splits the time of a request: each part begins where the one before ended. One thread at a time.
class RequestTimes {
 public:
  void begin(Clock::Instant now) {
    *this = {};
    last_ = now;
  }
  /// Ends a part; several of one kind add up.
  void end(RequestPart part, Clock::Instant now) {
    parts_[static_cast<std::size_t>(part)] += now - last_;
    skip(part);
    last_ = now;
  }
  /// Says that a part took no time.
  void skip(RequestPart part) { has_[static_cast<std::size_t>(part)] = true; }

  /// When the last part ended.
  [[nodiscard]] Clock::Instant last() const { return last_; }
  /// Whether the request had such a part.
  [[nodiscard]] bool has(RequestPart part) const { return has_[static_cast<std::size_t>(part)]; }
  [[nodiscard]] Clock::Instant::duration of(RequestPart part) const { return parts_[static_cast<std::size_t>(part)]; }
  /// All parts together.
  [[nodiscard]] Clock::Instant::duration whole() const;

 private:
  Clock::Instant last_;
  std::array<Clock::Instant::duration, kRequestPartCount> parts_{};
  std::array<bool, kRequestPartCount> has_{};
};

}  // namespace tessera
