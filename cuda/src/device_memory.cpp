#include "tessera/cuda/device_memory.h"

#include <utility>

#include "driver_call.h"

namespace tessera {

Result<DeviceMemory> DeviceMemory::allocate(std::shared_ptr<const Gpu> gpu, std::size_t size_bytes) {
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu->enter());
  const Driver& driver = gpu->driver();
  CuAddress address = 0;
  TESSERA_RETURN_IF_ERROR(status_of(driver, "cuMemAlloc", driver.functions().mem_alloc(&address, size_bytes)));
  return DeviceMemory(std::move(gpu), address, size_bytes);
}

DeviceMemory::DeviceMemory(std::shared_ptr<const Gpu> gpu, std::uint64_t address, std::size_t size_bytes)
    : gpu_(std::move(gpu)), address_(address), size_bytes_(size_bytes) {}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : gpu_(std::move(other.gpu_)),
      address_(std::exchange(other.address_, 0)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

DeviceMemory::~DeviceMemory() {
  if (address_ == 0) {
    return;
  }
  // It fails at exit, when the driver is gone (4), and in a forked child (3): the memory is not ours to free then.
  if (const Result<ContextScope> scope = gpu_->enter(); scope.has_value()) {
    gpu_->driver().functions().mem_free(address_);
  }
}

Result<IpcMemHandle> ipc_handle_of(const Gpu& gpu, std::uint64_t address) {
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu.enter());
  CuIpcMemHandle handle{};
  TESSERA_RETURN_IF_ERROR(
      status_of(gpu.driver(), "cuIpcGetMemHandle", gpu.driver().functions().ipc_get_mem_handle(&handle, address)));
  return IpcMemHandle{handle.bytes};
}

}  // namespace tessera
