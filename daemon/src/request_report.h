// What is known of one request, from its first byte to its end: for the log and the metrics.
#pragma once

#include <cstdint>
#include <string_view>

#include "limit_counters.h"
#include "request_times.h"
#include "router.h"
#include "tessera/array/array_tally.h"

namespace tessera {

/// Filled in by whoever comes to know it. Borrows from the connection for as long as the request is handled. One thread
/// at a time.
struct RequestReport {
  // Of the connection.
  std::string_view id;      ///< that the answer carries
  std::string_view method;  ///< empty, like the target, if there was no good head
  std::string_view target;
  std::string_view peer;
  int status = 0;                    ///< 0: it got no answer
  bool is_sent = false;              ///< the whole answer was
  std::uint64_t received_bytes = 0;  ///< also of what did not come whole
  std::uint64_t sent_bytes = 0;      ///< that the system took, also of an answer that was cut off
  RequestTimes times;

  // Of the service.
  Route route{RouteKind::kConnection, std::nullopt};
  std::string_view tesseract;  ///< outlives the request
  ArrayTally arrays_in;
  ArrayTally arrays_out;

  Limit limit = Limit::kNone;  ///< that was hit
};

}  // namespace tessera
