#include "limit_counters.h"

namespace tessera {

std::string_view name_of(Limit limit) {
  constexpr std::array<std::string_view, kLimitCount> kNames{
      "none",          "connections",  "descriptors",   "idle_time",          "first_request_time",
      "header_time",   "body_time",    "answer_time",   "request_line_bytes", "header_value_bytes",
      "headers",       "header_bytes", "body_bytes",    "bodies_bytes",       "body_memory",
      "nesting_depth", "array_bytes",  "waiting_calls", "export_bytes",       "gpu_memory",
      "stop_time"};
  static_assert(static_cast<std::size_t>(Limit::kStopTime) + 1 == kLimitCount);
  return kNames.at(static_cast<std::size_t>(limit));
}

}  // namespace tessera
