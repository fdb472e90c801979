// What operators see of the GPUs: GET /gpu, GET /leases, and the metrics of both.
#pragma once

#include <string>

#include "gpu_exchange.h"

namespace tessera {

/// A GpuReport as JSON. Without a configured transport no driver is asked.
[[nodiscard]] std::string gpu_json(GpuExchange& exchange);
/// `{"leases":[{"id":…,"bytes":…,"age_s":…,"state":…,"peer":…}],"total":…,"bytes":…}`; ids are shortened, so that
/// nobody can name what is not theirs.
[[nodiscard]] std::string leases_json(GpuExchange& exchange);
/// In the text format of Prometheus.
[[nodiscard]] std::string gpu_metrics(GpuExchange& exchange);

}  // namespace tessera
