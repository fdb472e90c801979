#include <array>

#include "driver_call.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {

Result<std::optional<PointerInfo>> query_pointer(const Driver& driver, std::uint64_t address) {
  std::array<int, 7> attributes = {kPointerMemoryType, kPointerIsManaged,  kPointerDeviceOrdinal, kPointerIsIpcCapable,
                                   kPointerBufferId,   kPointerRangeStart, kPointerRangeSize};
  // Eight zeroed bytes each, so that it does not matter how many of them the driver writes.
  std::array<std::uint64_t, attributes.size()> values{};
  std::array<void*, attributes.size()> places{};
  for (std::size_t i = 0; i != values.size(); ++i) {
    places.at(i) = &values.at(i);
  }
  // The plural call: for an unknown address it says so by zeros, where the singular one fails.
  TESSERA_RETURN_IF_ERROR(
      status_of(driver, "cuPointerGetAttributes",
                driver.functions().pointer_get_attributes(static_cast<unsigned int>(attributes.size()),
                                                          attributes.data(), places.data(), address)));
  const auto [memory_type, is_managed, ordinal, is_ipc_capable, buffer_id, range_address, range_bytes] = values;
  if ((memory_type & 0xFFFFFFFFU) == 0) {
    return std::optional<PointerInfo>();
  }
  PointerInfo info;
  info.ordinal = static_cast<int>(static_cast<std::uint32_t>(ordinal));
  info.is_managed = is_managed != 0;
  info.is_device_memory = memory_type == kMemoryTypeDevice || info.is_managed;
  info.is_ipc_capable = is_ipc_capable != 0;
  info.buffer_id = buffer_id;
  info.range_address = range_address;
  info.range_bytes = range_bytes;
  return std::optional(info);
}

}  // namespace tessera
