// The types of the calls of virtual memory management.
#pragma once

#include <utility>

#include "driver.h"

namespace tessera::stand_in {

inline constexpr int kTypePinned = 1;
inline constexpr int kLocationDevice = 1;
inline constexpr int kHandlePosixFd = 1;
inline constexpr int kHandleFabric = 8;

struct Location {
  int type;
  int id;
};

// CUmemAllocationProp.
struct Properties {
  int type;
  int requested_types;
  Location location;
  void* windows;
  unsigned char flags[8];
};
static_assert(sizeof(Properties) == 32);

// CUmemAccessDesc.
struct Access {
  Location location;
  int flags;
};
static_assert(sizeof(Access) == 12);

/// A new handle for memory.
[[nodiscard]] inline std::uint64_t add_virtual_allocation(Driver& driver, VirtualAllocation allocation)
    TESSERA_REQUIRES(driver.mutex) {
  std::uint64_t handle = driver.next_id();
  driver.virtual_allocations[handle] = std::move(allocation);
  return handle;
}

}  // namespace tessera::stand_in
