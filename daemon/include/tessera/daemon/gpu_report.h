// What can be said of a machine's GPUs, for operators: GET /gpu of a daemon, and `tessera gpu`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera {

/// A snapshot. A plain value.
struct GpuReport {
  struct Device {
    std::string uuid;
    int ordinal = 0;
    std::string name;
    std::string pci_bus_id;
    std::uint64_t memory_bytes = 0;
    DevicePool::Stats pool;
  };

  std::string gpu_transport;                ///< "cuda_ipc"
  std::optional<TransportProblem> problem;  ///< why GPU arrays cannot be exchanged
  std::vector<std::string> hints;           ///< what this container may lack, a sentence each
  int driver_version = 0;                   ///< 13000 for CUDA 13.0; 0 without a driver
  std::vector<Device> devices;
  TransportCounters counters;

  [[nodiscard]] bool works() const { return !problem.has_value(); }
  /// `{"gpu_transport":…,"works":…,"reason":…,"why":…,"hints":[…],"driver_version":…,"gpus":[…],"counters":{…}}`
  [[nodiscard]] std::string to_json() const;
  /// A few lines for people.
  [[nodiscard]] std::string to_text() const;
};

/// Makes no context, and does not touch a GPU beyond asking for its properties. Safe to call from any thread.
[[nodiscard]] GpuReport report_on(const GpuSystem& gpus, const GpuTransport& transport);

}  // namespace tessera
