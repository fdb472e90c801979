// The kinds of GPU memory that an array of ours may lie in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "mapping_cache.h"
#include "tessera/array/device_array.h"
#include "tessera/base/mutex.h"
#include "tessera/cuda/closer.h"
#include "tessera/cuda/device_memory.h"
#include "tessera/cuda/device_pool.h"
#include "transport_counts.h"

namespace tessera {

/// What another process needs to read a block in place. A plain value.
struct BlockHandle {
  IpcMemHandle handle;
  std::uint64_t offset_bytes = 0;
  std::uint64_t allocation_bytes = 0;
};

/// A block of this folder: it knows its GPU, and whether it can be named in place.
class LocalBlock : public DeviceBlock {
 public:
  LocalBlock(std::shared_ptr<const Gpu> gpu, std::uint64_t address, std::size_t size_bytes)
      : gpu_(std::move(gpu)), address_(address), size_bytes_(size_bytes) {}

  [[nodiscard]] const Uuid& gpu() const final { return gpu_->uuid(); }
  [[nodiscard]] std::uint64_t address() const final { return address_; }
  [[nodiscard]] std::size_t size_bytes() const final { return size_bytes_; }
  [[nodiscard]] Status wait() const final { return gpu_->synchronize(stream()); }
  [[nodiscard]] Status wait_for_gpu() const final { return gpu_->synchronize_all(); }
  [[nodiscard]] Status copy_to_host(std::span<std::byte> bytes) const final;
  [[nodiscard]] const std::shared_ptr<const Gpu>& device() const { return gpu_; }

  /// The handle by which it is read in place; nothing if it has to be copied first. Errors: of CUDA.
  [[nodiscard]] virtual Result<std::optional<BlockHandle>> handle() const { return std::optional<BlockHandle>(); }
  /// Of GPU memory that the block keeps.
  [[nodiscard]] virtual std::size_t pinned_bytes() const { return size_bytes_; }

 private:
  std::shared_ptr<const Gpu> gpu_;
  std::uint64_t address_;
  std::size_t size_bytes_;
};

/// No bytes, but a GPU.
class EmptyBlock final : public LocalBlock {
 public:
  explicit EmptyBlock(std::shared_ptr<const Gpu> gpu) : LocalBlock(std::move(gpu), 0, 0) {}
};

/// The beginning of a buffer of the pool.
class PooledBlock final : public LocalBlock {
 public:
  PooledBlock(std::shared_ptr<PooledMemory> memory, std::size_t size_bytes)
      : LocalBlock(memory->gpu(), memory->address(), size_bytes), memory_(std::move(memory)) {}

  [[nodiscard]] Result<std::optional<BlockHandle>> handle() const override;
  [[nodiscard]] std::size_t pinned_bytes() const override { return memory_->capacity_bytes(); }

 private:
  std::shared_ptr<PooledMemory> memory_;
};

/// Memory of an author or another library.
class ForeignBlock final : public LocalBlock {
 public:
  ForeignBlock(std::shared_ptr<const Gpu> gpu, std::uint64_t address, std::size_t size_bytes, const PointerInfo& info,
               std::shared_ptr<void> owner, void* stream, std::shared_ptr<TransportCounts> counts,
               std::shared_ptr<Closer> closer)
      : LocalBlock(std::move(gpu), address, size_bytes),
        info_(info),
        owner_(std::move(owner)),
        stream_(stream),
        counts_(std::move(counts)),
        closer_(std::move(closer)) {}
  ForeignBlock(const ForeignBlock&) = delete;
  ForeignBlock& operator=(const ForeignBlock&) = delete;
  ~ForeignBlock() override {
    if (owner_) {
      closer_->drop(std::move(owner_));
    }
  }

  [[nodiscard]] void* stream() const override { return stream_; }
  [[nodiscard]] Result<std::optional<BlockHandle>> handle() const override;
  [[nodiscard]] std::size_t pinned_bytes() const override { return info_.range_bytes; }

 private:
  const PointerInfo info_;
  std::shared_ptr<void> owner_;
  void* const stream_;
  const std::shared_ptr<TransportCounts> counts_;
  const std::shared_ptr<Closer> closer_;
  mutable Mutex mutex_;
  mutable std::optional<IpcMemHandle> handle_ TESSERA_GUARDED_BY(mutex_);
  mutable bool is_refused_ TESSERA_GUARDED_BY(mutex_) = false;
};

/// Another process's memory, mapped. Legacy IPC does not hand it on.
class MappedBlock final : public LocalBlock {
 public:
  MappedBlock(std::shared_ptr<const MappingCache::Lease> lease, std::uint64_t offset_bytes, std::size_t size_bytes)
      : LocalBlock(lease->mapping().gpu(), lease->mapping().address() + offset_bytes, size_bytes),
        lease_(std::move(lease)) {}

 private:
  std::shared_ptr<const MappingCache::Lease> lease_;
};

/// A part of another block.
class PartBlock final : public LocalBlock {
 public:
  PartBlock(std::shared_ptr<const LocalBlock> whole, std::uint64_t skipped_bytes, std::size_t size_bytes)
      : LocalBlock(whole->device(), whole->address() + skipped_bytes, size_bytes),
        whole_(std::move(whole)),
        skipped_bytes_(skipped_bytes) {}

  [[nodiscard]] void* stream() const override { return whole_->stream(); }
  [[nodiscard]] Result<std::optional<BlockHandle>> handle() const override;
  [[nodiscard]] std::size_t pinned_bytes() const override { return whole_->pinned_bytes(); }

 private:
  std::shared_ptr<const LocalBlock> whole_;
  std::uint64_t skipped_bytes_;
};

}  // namespace tessera
