#include "tessera/daemon/gpu_report.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "container_hints.h"

namespace tessera {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const GpuReport::Device& device) {
  return {{"uuid", device.uuid},
          {"ordinal", device.ordinal},
          {"name", device.name},
          {"pci_bus_id", device.pci_bus_id},
          {"memory_bytes", device.memory_bytes},
          {"pool",
           {{"used_bytes", device.pool.used_bytes},
            {"idle_bytes", device.pool.idle_bytes},
            {"allocations", device.pool.allocations},
            {"reuses", device.pool.reuses},
            {"handles_taken", device.pool.handles_taken}}}};
}

Json json_of(const TransportCounters& counters) {
  return {{"exports_in_place", counters.exports_in_place}, {"exports_staged", counters.exports_staged},
          {"handles_taken", counters.handles_taken},       {"handles_opened", counters.handles_opened},
          {"handles_closed", counters.handles_closed},     {"mapping_hits", counters.mapping_hits},
          {"stale_mappings", counters.stale_mappings},     {"imports_copied", counters.imports_copied},
          {"imports_borrowed", counters.imports_borrowed}, {"imports_same_process", counters.imports_same_process},
          {"mapped_bytes", counters.mapped_bytes},         {"exhaustions", counters.exhaustions},
          {"copies_to_host", counters.copies_to_host},     {"copies_to_host_bytes", counters.copies_to_host_bytes}};
}

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

}  // namespace

std::string GpuReport::to_json() const {
  Json json{{"gpu_transport", gpu_transport},
            {"works", works()},
            {"reason", problem ? Json(name_of(problem->reason)) : Json()},
            {"why", problem ? Json(problem->sentence) : Json()},
            {"hints", hints},
            {"driver_version", driver_version},
            {"gpus", Json::array()}};
  for (const Device& device : devices) {
    json["gpus"].push_back(json_of(device));
  }
  json["counters"] = json_of(counters);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string GpuReport::to_text() const {
  std::string text = gpu_transport + " works in this process\n";
  if (problem) {
    text = gpu_transport + " does not work here: " + text_of(*problem) + "\n";
  }
  if (driver_version > 0) {
    text += "driver    CUDA " + version_text(driver_version) + "\n";
  }
  for (const Device& device : devices) {
    text += "GPU " + std::to_string(device.ordinal) + "     " + device.name + ", " +
            std::to_string(device.memory_bytes >> 20U) + " MiB, " + device.pci_bus_id + ", " + device.uuid + "\n";
  }
  for (const std::string& hint : hints) {
    text += "container " + hint + "\n";
  }
  return text;
}

GpuReport report_on(const GpuSystem& gpus, const GpuTransport& transport) {
  GpuReport report;
  report.gpu_transport = transport.name();
  report.problem = transport.problem();
  report.hints = container_hints(!gpus.gpus().empty());
  report.driver_version = gpus.driver_version();
  report.counters = gpus.counters();
  const std::vector<DevicePool::Stats> pools = gpus.pool_stats();
  for (std::size_t i = 0; i < gpus.gpus().size(); ++i) {
    const Gpu& gpu = *gpus.gpus()[i];
    report.devices.push_back({gpu.uuid().text(), gpu.ordinal(), gpu.name(), gpu.attributes().pci_bus_id,
                              gpu.memory_bytes(), i < pools.size() ? pools[i] : DevicePool::Stats()});
  }
  return report;
}

}  // namespace tessera
