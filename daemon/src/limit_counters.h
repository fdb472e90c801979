// The limits of a daemon by name, and how often each was hit.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// Named as in DaemonOptions where an option holds their value.
enum class Limit {
  kNone,
  kConnections,       ///< one too many: another gave way, or it was refused or closed
  kDescriptors,       ///< none was left for a connection, or no memory
  kIdleTime,          ///< a kept connection was closed
  kFirstRequestTime,  ///< one that never sent anything was closed
  kHeaderTime,
  kBodyTime,    ///< a body stopped, or came too slowly
  kAnswerTime,  ///< an answer was not taken
  kRequestLineBytes,
  kHeaderValueBytes,
  kHeaders,  ///< there were too many
  kHeaderBytes,
  kBodyBytes,
  kBodiesBytes,  ///< of all together
  kBodyMemory,   ///< there was no memory for a body
  kNestingDepth,
  kArrayBytes,
  kWaitingCalls,
  kExportBytes,
  kGpuMemory,  ///< clients held what a GPU lacked
  kStopTime,   ///< a request was cut off by the end of the daemon
};
inline constexpr std::size_t kLimitCount = 21;

/// "none", "connections", "idle_time", …
[[nodiscard]] std::string_view name_of(Limit limit);

/// Safe to use from any thread.
class LimitCounters {
 public:
  /// kNone counts for nothing.
  void hit(Limit limit) {
    if (limit != Limit::kNone) {
      counts_[static_cast<std::size_t>(limit)].fetch_add(1, std::memory_order_relaxed);
    }
  }
  [[nodiscard]] std::uint64_t count(Limit limit) const {
    return counts_[static_cast<std::size_t>(limit)].load(std::memory_order_relaxed);
  }

 private:
  std::array<std::atomic<std::uint64_t>, kLimitCount> counts_{};
};

}  // namespace tessera
