// The 64 bytes that go to other processes.
#pragma once

#include <cstdint>

#include "machine.h"

namespace tessera::stand_in {

inline constexpr char kMemoryMagic[8] = {'T', 'S', 'I', 'M', 'E', 'M', '0', '1'};
inline constexpr char kEventMagic[8] = {'T', 'S', 'I', 'E', 'V', 'T', '0', '1'};

// CUipcMemHandle and CUipcEventHandle: 64 bytes that nobody but the driver reads. No padding: equal handles are equal
// bytes.
struct Handle {
  char magic[8];
  std::int32_t pid;
  std::uint32_t device_key;
  Id id;
  std::uint64_t offset_bytes;
  std::uint64_t size_bytes;
  std::uint8_t uuid_prefix[16];
};
static_assert(sizeof(Handle) == 64);

}  // namespace tessera::stand_in
