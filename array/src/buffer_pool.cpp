#include "buffer_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <new>

#include "memory_guard.h"

namespace tessera {
namespace {

std::byte* map_pages(std::size_t size) {
  void* pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<std::byte*>(pages);
}

// Maps one huge page more than needed, and gives back what is before and behind the aligned part.
std::byte* map_huge_pages(std::size_t size) {
  constexpr std::size_t kAlignment = BufferPool::kHugePageBytes;
  std::byte* pages = map_pages(size + kAlignment);
  if (pages == nullptr) {
    return nullptr;
  }
  const std::size_t before = (kAlignment - reinterpret_cast<std::uintptr_t>(pages) % kAlignment) % kAlignment;
  if (before > 0) {
    ::munmap(pages, before);
  }
  ::munmap(pages + before + size, kAlignment - before);
  // Without huge pages it works too, only slower.
  ::madvise(pages + before, size, MADV_HUGEPAGE);
  return pages + before;
}

std::byte* map_block(std::size_t size) {
  return size >= BufferPool::kHugePageBytes ? map_huge_pages(size) : map_pages(size);
}

void unmap_block(std::byte* block, std::size_t size) {
  // Whoever is given these addresses next may touch them.
  permit_access(block, size);
  ::munmap(block, size);
}

}  // namespace

BufferPool::~BufferPool() {
  set_limit(0);
}

std::size_t BufferPool::block_size_for(std::size_t size_bytes) {
  if (size_bytes > static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max()) / 2) {
    throw std::bad_alloc();
  }
  const std::size_t wanted = std::max(size_bytes, kMinBlockBytes);
  std::size_t step = std::bit_floor(wanted) / 4;
  if (wanted > kHugePageBytes - kHugePageBytes / 4) {
    step = std::max(step, kHugePageBytes);
  }
  return (wanted + step - 1) / step * step;
}

std::size_t BufferPool::class_index_of(std::size_t block_size) {
  const auto power = static_cast<std::size_t>(std::bit_width(block_size)) - 1;
  return power * 4 + ((block_size >> (power - 2)) & 3U);
}

std::byte* BufferPool::take(std::size_t size_bytes) {
  const std::size_t block_size = block_size_for(size_bytes);
  {
    const MutexLock lock(mutex_);
    SizeClass& size_class = classes_[class_index_of(block_size)];
    used_bytes_ += block_size;
    if (!size_class.idle.empty()) {
      std::byte* block = size_class.idle.back().block;
      size_class.idle.pop_back();
      idle_bytes_ -= block_size;
      permit_access(block, block_size);
      return block;
    }
  }
  std::byte* block = map_block(block_size);
  if (block == nullptr) {
    trim(0);
    block = map_block(block_size);
  }
  if (block == nullptr) {
    const MutexLock lock(mutex_);
    used_bytes_ -= block_size;
    throw std::bad_alloc();
  }
  return block;
}

void BufferPool::put(std::byte* block, std::size_t block_size) noexcept {
  forbid_access(block, block_size);
  std::uint64_t limit = 0;
  bool is_kept = false;
  try {
    const MutexLock lock(mutex_);
    limit = limit_bytes_;
    used_bytes_ -= block_size;
    if (block_size <= limit) {
      SizeClass& size_class = classes_[class_index_of(block_size)];
      size_class.block_size = block_size;
      size_class.idle.push_back({block, ++put_count_});
      idle_bytes_ += block_size;
      is_kept = true;
    }
  } catch (const std::bad_alloc&) {
    is_kept = false;  // no memory to remember it by
  }
  if (is_kept) {
    trim(limit);
  } else {
    unmap_block(block, block_size);
  }
}

void BufferPool::trim(std::uint64_t idle_bytes) noexcept {
  for (;;) {
    std::optional<Mapping> removed;
    {
      const MutexLock lock(mutex_);
      removed = remove_oldest_above(idle_bytes);
    }
    if (!removed) {
      return;
    }
    unmap_block(removed->block, removed->size);
  }
}

std::optional<BufferPool::Mapping> BufferPool::remove_oldest_above(std::uint64_t idle_bytes) {
  if (idle_bytes_ <= idle_bytes) {
    return std::nullopt;
  }
  SizeClass* oldest = nullptr;
  for (SizeClass& candidate : classes_) {
    if (!candidate.idle.empty() && (oldest == nullptr || candidate.idle.front().since < oldest->idle.front().since)) {
      oldest = &candidate;
    }
  }
  if (oldest == nullptr) {
    return std::nullopt;
  }
  const Mapping removed{oldest->idle.front().block, oldest->block_size};
  oldest->idle.pop_front();
  idle_bytes_ -= removed.size;
  return removed;
}

BufferPoolStats BufferPool::stats() const {
  const MutexLock lock(mutex_);
  return {used_bytes_, idle_bytes_};
}

void BufferPool::set_limit(std::uint64_t idle_bytes) {
  {
    const MutexLock lock(mutex_);
    limit_bytes_ = idle_bytes;
  }
  trim(idle_bytes);
}

}  // namespace tessera
