// The GPUs of the machine, and those of them that this process sees.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "knobs.h"

namespace tessera::stand_in {

/// A GPU, or one MIG instance of it. A plain value.
struct Device {
  std::uint32_t gpu = 0;
  std::optional<int> instance;  ///< of MIG
  UuidBytes gpu_uuid{};
  UuidBytes uuid{};  ///< of the instance, if it is one
  std::uint64_t memory_bytes = 0;
  std::string pci_bus_id;

  /// One number for GPU and instance.
  [[nodiscard]] std::uint32_t key() const { return gpu << 8 | static_cast<std::uint32_t>(instance.value_or(255)); }
};

[[nodiscard]] std::vector<Device> all_devices(const Knobs& knobs);
/// What CUDA_VISIBLE_DEVICES leaves of them; null is the variable that is not set.
[[nodiscard]] std::vector<Device> visible_devices(const std::vector<Device>& all, const char* variable);
/// Whether memory of one can be reached from the other.
[[nodiscard]] bool are_peers(const Knobs& knobs, const Device& a, const Device& b);

/// "5f3b2c1a-0d4e-…"
[[nodiscard]] std::string uuid_text(const UuidBytes& uuid);

}  // namespace tessera::stand_in
