#include "tessera/cuda/device_pool.h"

#include <algorithm>
#include <bit>
#include <list>
#include <map>
#include <new>
#include <optional>
#include <utility>

#include "tessera/base/mutex.h"
#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

constexpr std::size_t kGranularity = DevicePool::kGranularityBytes;

// An allocation and what is remembered about it.
struct Block {
  explicit Block(DeviceMemory owned) : memory(std::move(owned)) {}

  DeviceMemory memory;
  std::optional<IpcMemHandle> handle;
  std::size_t used_bytes = 0;  // from the start: what users may have written
  Clock::Instant idle_since;
};

std::optional<std::size_t> round_up(std::size_t size_bytes, std::size_t step) {
  const std::size_t rest = size_bytes % step;
  if (rest == 0) {
    return size_bytes;
  }
  const std::size_t missing = step - rest;
  return size_bytes > static_cast<std::size_t>(-1) - missing ? std::nullopt : std::optional(size_bytes + missing);
}

// Eight sizes to each power of two, so that arrays of many sizes use few; at most an eighth is wasted.
std::optional<std::size_t> class_size_of(std::size_t size_bytes) {
  return round_up(size_bytes, std::max(kGranularity, std::bit_floor(size_bytes) / 8));
}

Error out_of_memory(const Gpu& gpu, std::size_t size_bytes, const Error& cause) {
  if (cause.native_code() != kCudaOutOfMemory) {
    return cause;
  }
  return {ErrorCode::kOutOfMemory,
          "GPU " + gpu.uuid().text() + " has no " + std::to_string(size_bytes) + " bytes left: " + cause.message(),
          cause.native_code()};
}

class Pool final : public DevicePool, public std::enable_shared_from_this<Pool> {
 public:
  Pool(std::shared_ptr<const Gpu> gpu, std::uint64_t idle_limit_bytes, Clock::Instant::duration idle_time,
       const Clock& clock, std::shared_ptr<Closer> closer)
      : gpu_(std::move(gpu)),
        idle_limit_bytes_(idle_limit_bytes),
        idle_time_(idle_time),
        clock_(clock),
        closer_(std::move(closer)) {}

  [[nodiscard]] Result<std::shared_ptr<PooledMemory>> allocate(std::size_t size_bytes) override;
  void trim() override;
  [[nodiscard]] Stats stats() const override;

  void put_back(std::unique_ptr<Block> block) noexcept;
  void count_handle();
  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return gpu_; }

 private:
  using Blocks = std::list<std::unique_ptr<Block>>;
  // Idle blocks by size; of one size, the one used last at the end.
  using IdleBlocks = std::map<std::size_t, Blocks>;

  [[nodiscard]] std::unique_ptr<Block> take_idle(std::size_t size_bytes);
  [[nodiscard]] Result<std::unique_ptr<Block>> make_block(std::size_t size_bytes, std::size_t capacity_bytes);
  void remove_oldest(Blocks& removed) TESSERA_REQUIRES(mutex_);
  void free_by_closer(Blocks freed) noexcept;
  void free_all_idle();
  void forget(const Block& block);

  const std::shared_ptr<const Gpu> gpu_;
  const std::uint64_t idle_limit_bytes_;
  const Clock::Instant::duration idle_time_;
  const Clock& clock_;
  const std::shared_ptr<Closer> closer_;
  mutable Mutex mutex_;
  IdleBlocks idle_ TESSERA_GUARDED_BY(mutex_);
  Stats stats_ TESSERA_GUARDED_BY(mutex_);
};

class PoolBuffer final : public PooledMemory {
 public:
  PoolBuffer(std::shared_ptr<Pool> pool, std::unique_ptr<Block> block)
      : pool_(std::move(pool)), block_(std::move(block)) {}
  ~PoolBuffer() override { pool_->put_back(std::move(block_)); }

  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const override { return pool_->gpu(); }
  [[nodiscard]] std::uint64_t address() const override { return block_->memory.address(); }
  [[nodiscard]] std::size_t capacity_bytes() const override { return block_->memory.size_bytes(); }

  [[nodiscard]] Result<IpcMemHandle> handle() override {
    const MutexLock lock(mutex_);
    if (const std::optional<IpcMemHandle>& known = block_->handle; known) {
      return *known;
    }
    TESSERA_ASSIGN_OR_RETURN(const IpcMemHandle handle, ipc_handle_of(*gpu(), address()));
    block_->handle = handle;
    pool_->count_handle();
    return handle;
  }

 private:
  std::shared_ptr<Pool> pool_;
  std::unique_ptr<Block> block_;
  Mutex mutex_;  // of block_->handle
};

Result<std::shared_ptr<PooledMemory>> Pool::allocate(std::size_t size_bytes) {
  const std::optional<std::size_t> capacity_bytes = size_bytes == 0 ? std::nullopt : class_size_of(size_bytes);
  if (!capacity_bytes) {
    return Error(ErrorCode::kInvalidArgument, "cannot allocate " + std::to_string(size_bytes) + " bytes");
  }
  std::unique_ptr<Block> block = take_idle(*capacity_bytes);
  if (block == nullptr) {
    TESSERA_ASSIGN_OR_RETURN(block, make_block(size_bytes, *capacity_bytes));
  }
  if (block->used_bytes > size_bytes) {
    const Status cleared = clear_on_device(*gpu_, block->memory.address() + size_bytes, block->used_bytes - size_bytes);
    if (!cleared) {
      forget(*block);
      return cleared.error();
    }
  }
  block->used_bytes = size_bytes;
  try {
    return std::shared_ptr<PooledMemory>(std::make_shared<PoolBuffer>(shared_from_this(), std::move(block)));
  } catch (const std::bad_alloc&) {
    put_back(std::move(block));
    throw;
  }
}

// Takes the smallest that is large enough and wastes at most a quarter.
std::unique_ptr<Block> Pool::take_idle(std::size_t size_bytes) {
  const MutexLock lock(mutex_);
  const auto found = idle_.lower_bound(size_bytes);
  if (found == idle_.end() || found->first - size_bytes > size_bytes / 4) {
    return nullptr;
  }
  std::unique_ptr<Block> block = std::move(found->second.back());
  found->second.pop_back();
  if (found->second.empty()) {
    idle_.erase(found);
  }
  const std::size_t taken_bytes = block->memory.size_bytes();
  stats_.idle_bytes -= taken_bytes;
  stats_.used_bytes += taken_bytes;
  ++stats_.reuses;
  return block;
}

Result<std::unique_ptr<Block>> Pool::make_block(std::size_t size_bytes, std::size_t capacity_bytes) {
  Result<DeviceMemory> memory = DeviceMemory::allocate(gpu_, capacity_bytes);
  if (!memory && memory.error().native_code() == kCudaOutOfMemory) {
    free_all_idle();
    closer_->wait();
    memory = DeviceMemory::allocate(gpu_, capacity_bytes);
  }
  const std::size_t smallest_bytes = round_up(size_bytes, kGranularity).value_or(capacity_bytes);
  if (!memory && memory.error().native_code() == kCudaOutOfMemory && smallest_bytes < capacity_bytes) {
    memory = DeviceMemory::allocate(gpu_, smallest_bytes);
  }
  if (!memory) {
    return out_of_memory(*gpu_, size_bytes, memory.error());
  }
  auto block = std::make_unique<Block>(*std::move(memory));
  // The driver does not clear what this process freed before.
  block->used_bytes = block->memory.size_bytes();
  const MutexLock lock(mutex_);
  stats_.used_bytes += block->memory.size_bytes();
  ++stats_.allocations;
  return block;
}

void Pool::forget(const Block& block) {
  const MutexLock lock(mutex_);
  stats_.used_bytes -= block.memory.size_bytes();
}

void Pool::put_back(std::unique_ptr<Block> block) noexcept {
  if (block == nullptr) {
    return;
  }
  const std::size_t size_bytes = block->memory.size_bytes();
  block->idle_since = clock_.now();
  forget(*block);
  Blocks freed;
  try {
    Blocks entry;
    entry.push_back(std::move(block));
    const MutexLock lock(mutex_);
    Blocks& target = size_bytes > idle_limit_bytes_ ? freed : idle_[size_bytes];
    target.splice(target.end(), entry);
    stats_.idle_bytes += size_bytes > idle_limit_bytes_ ? 0 : size_bytes;
    while (stats_.idle_bytes > idle_limit_bytes_) {
      remove_oldest(freed);
    }
  } catch (const std::bad_alloc&) {
    return;  // no memory to remember it by: freed
  }
  free_by_closer(std::move(freed));
}

void Pool::remove_oldest(Blocks& removed) {
  auto oldest = idle_.end();
  for (auto candidate = idle_.begin(); candidate != idle_.end(); ++candidate) {
    if (oldest == idle_.end() || candidate->second.front()->idle_since < oldest->second.front()->idle_since) {
      oldest = candidate;
    }
  }
  Blocks& blocks = oldest->second;
  stats_.idle_bytes -= blocks.front()->memory.size_bytes();
  removed.splice(removed.end(), blocks, blocks.begin());
  if (blocks.empty()) {
    idle_.erase(oldest);
  }
}

// Freeing waits for the work of the GPU, and whoever gives a buffer back should not.
void Pool::free_by_closer(Blocks freed) noexcept {
  if (freed.empty()) {
    return;
  }
  try {
    closer_->drop(std::make_shared<Blocks>(std::move(freed)));
  } catch (const std::bad_alloc&) {
    return;  // freed here
  }
}

void Pool::free_all_idle() {
  IdleBlocks freed;
  const MutexLock lock(mutex_);
  freed.swap(idle_);
  stats_.idle_bytes = 0;
}

void Pool::trim() {
  const Clock::Instant now = clock_.now();
  Blocks freed;
  const MutexLock lock(mutex_);
  for (auto size = idle_.begin(); size != idle_.end();) {
    auto& blocks = size->second;
    while (!blocks.empty() && now - blocks.front()->idle_since >= idle_time_) {
      stats_.idle_bytes -= blocks.front()->memory.size_bytes();
      freed.splice(freed.end(), blocks, blocks.begin());
    }
    size = blocks.empty() ? idle_.erase(size) : std::next(size);
  }
}

DevicePool::Stats Pool::stats() const {
  const MutexLock lock(mutex_);
  return stats_;
}

void Pool::count_handle() {
  const MutexLock lock(mutex_);
  ++stats_.handles_taken;
}

}  // namespace

std::shared_ptr<DevicePool> DevicePool::make(std::shared_ptr<const Gpu> gpu, std::uint64_t idle_limit_bytes,
                                             Clock::Instant::duration idle_time, const Clock& clock,
                                             std::shared_ptr<Closer> closer) {
  return std::make_shared<Pool>(std::move(gpu), idle_limit_bytes, idle_time, clock, std::move(closer));
}

}  // namespace tessera
