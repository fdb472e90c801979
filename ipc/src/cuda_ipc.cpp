#include "cuda_ipc.h"

#include <algorithm>
#include <utility>

#include "explain.h"
#include "tessera/base/checked_math.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

Error reference_error(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "cuda_ipc descriptor " + what};
}

// Whether the bytes lie within an allocation of this size.
bool is_within(std::uint64_t offset_bytes, std::size_t size_bytes, std::uint64_t allocation_bytes) {
  const auto end_bytes = checked_add<std::uint64_t>(offset_bytes, size_bytes);
  return end_bytes && *end_bytes <= allocation_bytes;
}

std::string place_of(std::uint64_t offset_bytes, std::size_t size_bytes) {
  return std::to_string(size_bytes) + " bytes from offset " + std::to_string(offset_bytes) + " on";
}

// Memory that another process can read.
struct NamedBlock {
  std::shared_ptr<const LocalBlock> block;
  BlockHandle handle;
  bool is_staged = false;
};

Result<NamedBlock> name_block(System& system, std::shared_ptr<const LocalBlock> block, std::size_t size_bytes) {
  TESSERA_ASSIGN_OR_RETURN(const std::optional<BlockHandle> handle, block->handle());
  if (handle) {
    // A process that reads it sees no order but this.
    TESSERA_RETURN_IF_ERROR(block->wait());
    return NamedBlock{std::move(block), *handle, false};
  }
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const LocalBlock> copy,
                           system.copy_block(*block, size_bytes, block->device()));
  TESSERA_ASSIGN_OR_RETURN(const std::optional<BlockHandle> copy_handle, copy->handle());
  if (!copy_handle) {
    return Error(ErrorCode::kInternal, "a buffer of the pool has no handle");
  }
  return NamedBlock{std::move(copy), *copy_handle, true};
}

}  // namespace

std::optional<TransportProblem> CudaIpc::problem() const {
  return system_->problem() ? system_->problem() : find_platform_problem(*system_);
}

Result<ExportedArray> CudaIpc::export_array(const Array& array) {
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const LocalBlock> block, system_->block_of(array));
  ExportedArray exported;
  CudaIpcDescriptor descriptor;
  descriptor.gpu = block->gpu();
  if (array.size_bytes() == 0) {
    exported.reference = descriptor.text();
    return exported;
  }
  TESSERA_ASSIGN_OR_RETURN(NamedBlock named, name_block(*system_, std::move(block), array.size_bytes()));
  descriptor.handle = named.handle.handle;
  descriptor.offset_bytes = named.handle.offset_bytes;
  descriptor.allocation_bytes = named.handle.allocation_bytes;
  exported.reference = descriptor.text();
  exported.pinned_bytes = named.block->pinned_bytes();
  exported.is_staged = named.is_staged;
  exported.owner = system_->exports().add(named.handle, std::move(named.block));
  ++(exported.is_staged ? system_->counts().exports_staged : system_->counts().exports_in_place);
  return exported;
}

Result<ImportedArray> CudaIpc::import_array(std::string_view reference, DType dtype, Shape shape, Borrow borrow) {
  TESSERA_ASSIGN_OR_RETURN(const CudaIpcDescriptor descriptor, CudaIpcDescriptor::parse(reference));
  TESSERA_ASSIGN_OR_RETURN(const std::size_t size_bytes, bytes_of(shape, dtype));
  if (!descriptor.handle && size_bytes != 0) {
    return reference_error("has no handle, but the array of shape " + python_shape(shape) + " and dtype " +
                           std::string(name_of(dtype)) + " is not empty");
  }
  if (!is_within(descriptor.offset_bytes, size_bytes, descriptor.allocation_bytes)) {
    return reference_error("names " + place_of(descriptor.offset_bytes, size_bytes) + " in an allocation of " +
                           std::to_string(descriptor.allocation_bytes));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::shared_ptr<const Gpu> gpu, system_->require(descriptor.gpu));
  if (size_bytes == 0) {
    return ImportedArray{Array::on_device(dtype, std::move(shape), std::make_shared<EmptyBlock>(gpu)),
                         ImportedArray::Path::kEmpty};
  }
  TESSERA_ASSIGN_OR_RETURN(const FoundBlock found, find_block(gpu, descriptor, size_bytes, borrow));
  return ImportedArray{Array::on_device(dtype, std::move(shape), found.block), found.path};
}

Result<CudaIpc::FoundBlock> CudaIpc::find_block(const std::shared_ptr<const Gpu>& gpu,
                                                const CudaIpcDescriptor& descriptor, std::size_t size_bytes,
                                                Borrow borrow) {
  const IpcMemHandle handle = descriptor.handle.value_or(IpcMemHandle());
  if (auto own = system_->exports().find(handle, descriptor.offset_bytes, size_bytes);
      own != nullptr && own->device() == gpu) {
    ++system_->counts().imports_same_process;
    return FoundBlock{std::move(own), ImportedArray::Path::kSameProcess};
  }
  // CUDA would refuse it in its own process by an error (201) that means something else between two.
  if (system_->exports().is_own(handle)) {
    return reference_error("names memory of this process that is not exported (any more)");
  }
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const MappingCache::Lease> lease, system_->mappings().open(gpu, handle));
  // The sender may claim any size; the driver knows.
  if (!is_within(descriptor.offset_bytes, size_bytes, lease->mapping().size_bytes())) {
    return reference_error("names " + place_of(descriptor.offset_bytes, size_bytes) +
                           ", but the allocation that its handle opens has " +
                           std::to_string(lease->mapping().size_bytes()));
  }
  const auto mapped = std::make_shared<MappedBlock>(std::move(lease), descriptor.offset_bytes, size_bytes);
  if (borrow == Borrow::kYes) {
    ++system_->counts().imports_borrowed;
    return FoundBlock{mapped, ImportedArray::Path::kBorrowed};
  }
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const LocalBlock> copy, system_->allocate_block(gpu, size_bytes));
  TESSERA_RETURN_IF_ERROR(copy_on_device(*gpu, copy->address(), mapped->address(), size_bytes));
  ++system_->counts().imports_copied;
  return FoundBlock{std::move(copy), ImportedArray::Path::kCopied};
}

TransportProblem CudaIpc::explain(const Error& error) const {
  return explain_error(error, *system_);
}

std::unique_ptr<GpuTransport> make_cuda_ipc(std::shared_ptr<GpuSystem> gpus) {
  // GpuSystem::open() is the only one who makes them.
  return std::make_unique<CudaIpc>(std::static_pointer_cast<System>(std::move(gpus)));
}

}  // namespace tessera
