// What operators see of the GPUs: GET /gpu, GET /leases, and the metrics of both.
#pragma once

#include <string>

#include "gpu_exchange.h"

namespace tessera {

/// `{"gpu_transport":…,"works":…,"reason":…,"why":…,"driver_version":…,"gpus":[…],"counters":{…}}`. Without a
/// configured transport no driver is asked.
[[nodiscard]] std::string gpu_json(GpuExchange& exchange, const std::string& configured);
/// `{"leases":[{"id":…,"bytes":…,"age_s":…,"state":…,"peer":…}],"total":…,"bytes":…}`; ids are shortened, so that
/// nobody can name what is not theirs.
[[nodiscard]] std::string leases_json(GpuExchange& exchange);
/// In the text format of Prometheus.
[[nodiscard]] std::string gpu_metrics(GpuExchange& exchange);

}  // namespace tessera
