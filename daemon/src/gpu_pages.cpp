#include "gpu_pages.h"

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "prometheus_text.h"
#include "tessera/daemon/gpu_report.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kShownLeases = 1000;
constexpr std::array<std::string_view, kLeaseEndCount> kLeaseEnds{"named", "superseded", "expired", "dropped",
                                                                  "drained"};

}  // namespace

std::string gpu_json(GpuExchange& exchange) {
  const GpuTransport* const transport = exchange.transport();
  if (transport == nullptr) {
    const Json json{{"gpu_transport", "none"},
                    {"works", false},
                    {"reason", "not_configured"},
                    {"why", "this daemon was started without a GPU transport; start it with --gpu-transport cuda_ipc"}};
    return json.dump();
  }
  return report_on(*exchange.gpus(), *transport).to_json();
}

std::string leases_json(GpuExchange& exchange) {
  const RegistryStats stats = exchange.registry().stats();
  Json leases = Json::array();
  for (const LeaseInfo& lease : exchange.registry().leases(kShownLeases)) {
    leases.push_back({{"id", lease.short_id},
                      {"bytes", lease.bytes},
                      {"age_s", std::chrono::duration<double>(lease.age).count()},
                      {"state", lease.is_acknowledging ? "until named" : "until the next call"},
                      {"peer", lease.peer}});
  }
  const Json json{{"leases", std::move(leases)}, {"total", stats.leases}, {"bytes", stats.bytes}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string gpu_metrics(GpuExchange& exchange) {
  std::string text;
  append_counter(text, "tessera_gpu_host_copies_total", "Arrays copied from a GPU to the host.",
                 exchange.host_copies());
  append_counter(text, "tessera_gpu_host_copy_bytes_total", "Bytes copied from a GPU to the host.",
                 exchange.host_copy_bytes());
  if (exchange.transport() == nullptr) {
    return text;
  }
  const RegistryStats stats = exchange.registry().stats();
  append_gauge(text, "tessera_export_leases", "Responses whose GPU arrays are kept for their clients.", stats.leases);
  append_gauge(text, "tessera_export_bytes", "GPU memory kept for clients.", stats.bytes);
  append_counter(text, "tessera_exports_total", "Leases made.", stats.made);
  append_metric_head(text, "tessera_export_ends_total", "counter", "Leases ended, by cause.");
  for (std::size_t i = 0; i < kLeaseEndCount; ++i) {
    append_sample(text, "tessera_export_ends_total", "cause", kLeaseEnds.at(i), stats.ended[i]);
  }
  const TransportCounters counters = exchange.gpus()->counters();
  append_metric_head(text, "tessera_gpu_arrays_total", "counter",
                     "GPU arrays received and sent, by the way they took.");
  for (const auto& [path, count] : std::initializer_list<std::pair<std::string_view, std::uint64_t>>{
           {"exported_in_place", counters.exports_in_place},
           {"exported_staged", counters.exports_staged},
           {"imported_by_copy", counters.imports_copied},
           {"imported_borrowed", counters.imports_borrowed},
           {"imported_same_process", counters.imports_same_process}}) {
    append_sample(text, "tessera_gpu_arrays_total", "path", path, count);
  }
  append_counter(text, "tessera_gpu_handles_taken_total", "Calls of cuIpcGetMemHandle.", counters.handles_taken);
  append_counter(text, "tessera_gpu_handles_opened_total", "Calls of cuIpcOpenMemHandle.", counters.handles_opened);
  append_counter(text, "tessera_gpu_mapping_hits_total", "Arrays received through a handle that was open.",
                 counters.mapping_hits);
  append_counter(text, "tessera_gpu_stale_mappings_total", "Mappings closed because a new one overlapped.",
                 counters.stale_mappings);
  append_gauge(text, "tessera_gpu_mapped_bytes", "GPU memory of clients that is mapped here.", counters.mapped_bytes);
  std::uint64_t used = 0;
  std::uint64_t idle = 0;
  for (const DevicePool::Stats& pool : exchange.gpus()->pool_stats()) {
    used += pool.used_bytes;
    idle += pool.idle_bytes;
  }
  append_gauge(text, "tessera_gpu_pool_used_bytes", "GPU memory of the pools in use.", used);
  append_gauge(text, "tessera_gpu_pool_idle_bytes", "GPU memory of the pools kept for the next use.", idle);
  return text;
}

}  // namespace tessera
