// The round trip by which a client finds out whether a GPU transport works (PROTOCOL.md section 8.3).
#pragma once

#include "gpu_exchange.h"
#include "request.h"

namespace tessera {

/// Answers a request to /check_gpu_transport: 200 with `ok` true and an array, or false and a reason; 422 for a body
/// that is no object. Requires: exchange.transport(). Never throws but std::bad_alloc.
[[nodiscard]] Response answer_gpu_check(GpuExchange& exchange, const Request& request);

}  // namespace tessera
