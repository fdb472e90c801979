#include "cuda_ipc.h"

#include <algorithm>
#include <utility>

#include "explain.h"
#include "tessera/base/checked_math.h"

namespace tessera {
namespace {

Error reference_error(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "cuda_ipc descriptor " + what};
}

// Python's form of a tuple: (3, 4), (3,), ().
std::string text_of(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i != shape.size(); ++i) {
    text += (i == 0 ? "" : ", ") + std::to_string(shape[i]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

// Whether the bytes lie within an allocation of this size.
bool is_within(std::uint64_t offset_bytes, std::size_t size_bytes, std::uint64_t allocation_bytes) {
  const auto end_bytes = checked_add<std::uint64_t>(offset_bytes, size_bytes);
  return end_bytes && *end_bytes <= allocation_bytes;
}

std::string place_of(std::uint64_t offset_bytes, std::size_t size_bytes) {
  return std::to_string(size_bytes) + " bytes from offset " + std::to_string(offset_bytes) + " on";
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
  TESSERA_ASSIGN_OR_RETURN(std::optional<BlockHandle> handle, block->handle());
  if (handle) {
    // A process that reads it sees no order but this.
    TESSERA_RETURN_IF_ERROR(block->device()->synchronize(block->stream()));
  } else {
    TESSERA_ASSIGN_OR_RETURN(block, system_->copy_block(*block, array.size_bytes(), block->device()));
    TESSERA_ASSIGN_OR_RETURN(handle, block->handle());
    exported.is_staged = true;
  }
  descriptor.handle = handle->handle;
  descriptor.offset_bytes = handle->offset_bytes;
  descriptor.allocation_bytes = handle->allocation_bytes;
  exported.reference = descriptor.text();
  exported.pinned_bytes = block->pinned_bytes();
  exported.owner = system_->exports().add(*handle, std::move(block));
  ++(exported.is_staged ? system_->counts().exports_staged : system_->counts().exports_in_place);
  return exported;
}

Result<ImportedArray> CudaIpc::import_array(std::string_view reference, DType dtype, Shape shape, Borrow borrow) {
  TESSERA_ASSIGN_OR_RETURN(const CudaIpcDescriptor descriptor, CudaIpcDescriptor::parse(reference));
  const std::optional<std::uint64_t> size_bytes = byte_count(shape, dtype);
  if (!size_bytes) {
    return Error(ErrorCode::kInvalidArgument,
                 "an array of shape " + text_of(shape) + " has negative sizes or too many elements");
  }
  if (!descriptor.handle && *size_bytes != 0) {
    return reference_error("has no handle, but the array of shape " + text_of(shape) + " and dtype " +
                           std::string(name_of(dtype)) + " is not empty");
  }
  if (!is_within(descriptor.offset_bytes, static_cast<std::size_t>(*size_bytes), descriptor.allocation_bytes)) {
    return reference_error("names " + place_of(descriptor.offset_bytes, static_cast<std::size_t>(*size_bytes)) +
                           " in an allocation of " + std::to_string(descriptor.allocation_bytes));
  }
  TESSERA_ASSIGN_OR_RETURN(const std::shared_ptr<const Gpu> gpu, system_->require(descriptor.gpu));
  if (*size_bytes == 0) {
    return ImportedArray{Array::on_device(dtype, std::move(shape), std::make_shared<EmptyBlock>(gpu)),
                         ImportedArray::Path::kEmpty};
  }
  return import_bytes(gpu, descriptor, dtype, std::move(shape), static_cast<std::size_t>(*size_bytes), borrow);
}

Result<ImportedArray> CudaIpc::import_bytes(const std::shared_ptr<const Gpu>& gpu, const CudaIpcDescriptor& descriptor,
                                            DType dtype, Shape shape, std::size_t size_bytes, Borrow borrow) {
  if (auto own = system_->exports().find(*descriptor.handle, descriptor.offset_bytes, size_bytes);
      own != nullptr && own->device() == gpu) {
    ++system_->counts().imports_same_process;
    return ImportedArray{Array::on_device(dtype, std::move(shape), std::move(own)), ImportedArray::Path::kSameProcess};
  }
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const MappingCache::Lease> lease,
                           system_->mappings().open(gpu, *descriptor.handle));
  // The sender may claim any size; the driver knows.
  if (!is_within(descriptor.offset_bytes, size_bytes, lease->mapping().size_bytes())) {
    return reference_error("names " + place_of(descriptor.offset_bytes, size_bytes) +
                           ", but the allocation that its handle opens has " +
                           std::to_string(lease->mapping().size_bytes()));
  }
  const auto mapped = std::make_shared<MappedBlock>(std::move(lease), descriptor.offset_bytes, size_bytes);
  if (borrow == Borrow::kYes) {
    ++system_->counts().imports_borrowed;
    return ImportedArray{Array::on_device(dtype, std::move(shape), mapped), ImportedArray::Path::kBorrowed};
  }
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const LocalBlock> copy, system_->allocate_block(gpu, size_bytes));
  TESSERA_RETURN_IF_ERROR(copy_on_device(*gpu, copy->address(), mapped->address(), size_bytes));
  ++system_->counts().imports_copied;
  return ImportedArray{Array::on_device(dtype, std::move(shape), std::move(copy)), ImportedArray::Path::kCopied};
}

TransportProblem CudaIpc::explain(const Error& error) const {
  return explain_error(error, *system_);
}

std::unique_ptr<GpuTransport> make_cuda_ipc(std::shared_ptr<GpuSystem> gpus) {
  // GpuSystem::open() is the only one who makes them.
  return std::make_unique<CudaIpc>(std::static_pointer_cast<System>(std::move(gpus)));
}

}  // namespace tessera
