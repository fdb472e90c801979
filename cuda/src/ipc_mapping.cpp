#include <utility>

#include "driver_call.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {

Result<IpcMapping> IpcMapping::open(std::shared_ptr<const Gpu> gpu, const IpcMemHandle& handle) {
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu->enter());
  const Driver& driver = gpu->driver();
  const DriverFunctions& functions = driver.functions();
  CuAddress address = 0;
  TESSERA_RETURN_IF_ERROR(
      status_of(driver, "cuIpcOpenMemHandle",
                functions.ipc_open_mem_handle(&address, CuIpcMemHandle{handle.bytes}, kIpcLazyEnablePeerAccess)));
  CuAddress base = 0;
  std::size_t size_bytes = 0;
  const Status range =
      status_of(driver, "cuMemGetAddressRange", functions.mem_get_address_range(&base, &size_bytes, address));
  if (!range) {
    functions.ipc_close_mem_handle(address);
    return range.error();
  }
  // What was opened is the base; if the driver should say otherwise, only what follows the address counts.
  const std::uint64_t skipped_bytes = address - base;
  const std::size_t usable_bytes = base <= address && skipped_bytes <= size_bytes ? size_bytes - skipped_bytes : 0;
  return IpcMapping(std::move(gpu), address, usable_bytes);
}

IpcMapping::IpcMapping(std::shared_ptr<const Gpu> gpu, std::uint64_t address, std::size_t size_bytes)
    : gpu_(std::move(gpu)), address_(address), size_bytes_(size_bytes) {}

IpcMapping::IpcMapping(IpcMapping&& other) noexcept
    : gpu_(std::move(other.gpu_)),
      address_(std::exchange(other.address_, 0)),
      size_bytes_(std::exchange(other.size_bytes_, 0)) {}

IpcMapping& IpcMapping::operator=(IpcMapping&& other) noexcept {
  std::swap(gpu_, other.gpu_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  return *this;
}

IpcMapping::~IpcMapping() {
  if (address_ == 0) {
    return;
  }
  // As with memory: at exit and in a forked child there is nothing to close.
  if (const Result<ContextScope> scope = gpu_->enter(); scope.has_value()) {
    gpu_->driver().functions().ipc_close_mem_handle(address_);
  }
}

}  // namespace tessera
