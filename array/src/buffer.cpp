#include "tessera/array/buffer.h"

#include <cstdlib>
#include <new>
#include <utility>

#include "buffer_pool.h"
#include "memory_guard.h"

namespace tessera {
namespace {

// Never destroyed: buffers in static storage of others may outlive anything of ours.
BufferPool& pool() {
  static auto* const kPool = new BufferPool;
  return *kPool;
}

}  // namespace

Buffer Buffer::allocate(std::size_t size_bytes) {
  if (size_bytes == 0) {
    return {};
  }
  if (size_bytes < BufferPool::kMinBlockBytes) {
    // malloc and a shift, because aligned_alloc is several times slower.
    const std::size_t block_size = size_bytes + kAlignmentBytes - 1;
    void* raw = std::malloc(block_size);
    if (raw == nullptr) {
      throw std::bad_alloc();
    }
    auto* const block = static_cast<std::byte*>(raw);
    const std::size_t shift =
        (kAlignmentBytes - reinterpret_cast<std::uintptr_t>(raw) % kAlignmentBytes) % kAlignmentBytes;
    std::shared_ptr<void> owner(raw, [](void* memory) { std::free(memory); });
    forbid_access(block + shift + size_bytes, block_size - shift - size_bytes);
    return adopt(std::move(owner), block + shift, size_bytes);
  }
  std::byte* const block = pool().take(size_bytes);
  const std::size_t block_size = BufferPool::block_size_for(size_bytes);
  std::shared_ptr<void> owner(block, [block_size](std::byte* memory) { pool().put(memory, block_size); });
  forbid_access(block + size_bytes, block_size - size_bytes);
  return adopt(std::move(owner), block, size_bytes);
}

Buffer Buffer::adopt(std::shared_ptr<void> owner, std::byte* data, std::size_t size_bytes) {
  Buffer buffer;
  buffer.owner_ = std::move(owner);
  buffer.data_ = data;
  buffer.size_bytes_ = size_bytes;
  return buffer;
}

bool Buffer::is_unique() const {
  if (owner_.use_count() > 1) {
    return false;
  }
  // use_count() is a relaxed read; a copy synchronises with the handles that were dropped on other threads.
  const std::shared_ptr<void> copy = owner_;  // NOLINT(performance-unnecessary-copy-initialization)
  return copy.use_count() <= 2;
}

Buffer Buffer::first(std::size_t size_bytes) const {
  return adopt(owner_, data_, size_bytes);
}

BufferPoolStats buffer_pool_stats() {
  return pool().stats();
}

void set_buffer_pool_limit(std::uint64_t idle_bytes) {
  pool().set_limit(idle_bytes);
}

}  // namespace tessera
