// Memory of the VMM calls, with addresses for it.
#pragma once

#include "driver_table.h"

namespace tessera::driver_conformance {

/// Ends mapping, reservation and handle with it. One thread at a time.
class VirtualMemory {
 public:
  VirtualMemory() = default;
  VirtualMemory(const VirtualMemory&) = delete;
  VirtualMemory& operator=(const VirtualMemory&) = delete;
  ~VirtualMemory() {
    if (is_mapped_) {
      driver().cuMemUnmap(address_, size_);
    }
    if (address_ != 0) {
      driver().cuMemAddressFree(address_, size_);
    }
    release();
  }

  [[nodiscard]] Code create(std::size_t size, int device) {
    size_ = size;
    device_ = device;
    AllocationProperties properties;
    properties.location.id = device;
    return driver().cuMemCreate(&handle_, size, &properties, 0);
  }
  void adopt(std::uint64_t handle, std::size_t size, int device) {
    handle_ = handle;
    size_ = size;
    device_ = device;
  }
  /// Reserves addresses and maps there; access 1 is to read, 3 to read and write, 0 none.
  [[nodiscard]] Code map(int access) {
    Code code = driver().cuMemAddressReserve(&address_, size_, 0, 0, 0);
    if (code == 0) {
      code = driver().cuMemMap(address_, size_, 0, handle_, 0);
      is_mapped_ = code == 0;
    }
    AccessDescription description;
    description.location.id = device_;
    description.flags = access;
    return code != 0 || access == 0 ? code : driver().cuMemSetAccess(address_, size_, &description, 1);
  }
  /// Gives back the handle; the mapping stays.
  Code release() {
    std::uint64_t handle = handle_;
    handle_ = 0;
    return handle == 0 ? 0 : driver().cuMemRelease(handle);
  }

  [[nodiscard]] Address address() const { return address_; }
  [[nodiscard]] std::uint64_t handle() const { return handle_; }

 private:
  std::uint64_t handle_ = 0;
  Address address_ = 0;
  std::size_t size_ = 0;
  int device_ = 0;
  bool is_mapped_ = false;
};

}  // namespace tessera::driver_conformance
