#include "device_blocks.h"

#include "tessera/cuda/driver_functions.h"

namespace tessera {

Status LocalBlock::copy_to_host(std::span<std::byte> bytes) const {
  if (bytes.empty()) {
    return {};
  }
  TESSERA_RETURN_IF_ERROR(wait());
  return tessera::copy_to_host(*gpu_, bytes, address_);
}

Result<std::optional<BlockHandle>> PooledBlock::handle() const {
  TESSERA_ASSIGN_OR_RETURN(const IpcMemHandle handle, memory_->handle());
  return std::optional(BlockHandle{handle, 0, memory_->capacity_bytes()});
}

namespace {

// The driver carves smaller allocations out of pages that they share, and a handle opens whole pages: whoever has it
// would read what lies beside the array, of other clients too.
bool has_pages_of_its_own(const PointerInfo& info) {
  return info.range_address % DevicePool::kGranularityBytes == 0 &&
         info.range_bytes % DevicePool::kGranularityBytes == 0;
}

}  // namespace

Result<std::optional<BlockHandle>> ForeignBlock::handle() const {
  const MutexLock lock(mutex_);
  if (!info_.is_ipc_capable || !has_pages_of_its_own(info_) || is_refused_) {
    return std::optional<BlockHandle>();
  }
  if (!handle_) {
    Result<IpcMemHandle> taken = ipc_handle_of(*device(), address());
    // The attribute is also set for memory that another process has exported to this one.
    if (!taken && taken.error().native_code() == kCudaInvalidValue) {
      is_refused_ = true;
      return std::optional<BlockHandle>();
    }
    TESSERA_ASSIGN_OR_RETURN(handle_, std::move(taken));
    ++counts_->foreign_handles_taken;
  }
  return std::optional(BlockHandle{*handle_, address() - info_.range_address, info_.range_bytes});
}

Result<std::optional<BlockHandle>> PartBlock::handle() const {
  TESSERA_ASSIGN_OR_RETURN(std::optional<BlockHandle> handle, whole_->handle());
  if (handle) {
    handle->offset_bytes += skipped_bytes_;
  }
  return handle;
}

}  // namespace tessera
