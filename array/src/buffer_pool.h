// Keeps large blocks of memory warm between uses, by size class.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "tessera/array/buffer.h"
#include "tessera/base/fork_safe_mutex.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// Blocks of kMinBlockBytes and more, straight from the kernel. Safe to use from any thread.
class BufferPool {
 public:
  static constexpr std::size_t kMinBlockBytes = std::size_t{64} << 10;
  static constexpr std::size_t kHugePageBytes = std::size_t{2} << 20;

  BufferPool() = default;
  BufferPool(const BufferPool&) = delete;
  BufferPool& operator=(const BufferPool&) = delete;
  ~BufferPool();

  /// The size of the block that take() gives for this many bytes: at most a quarter more, or the next huge page.
  [[nodiscard]] static std::size_t block_size_for(std::size_t size_bytes);

  /// Gives a block of exactly block_size_for(size_bytes) bytes; it is the caller's until put(). Throws std::bad_alloc.
  [[nodiscard]] std::byte* take(std::size_t size_bytes);
  /// Takes a block back. Never throws: what cannot be kept is freed.
  void put(std::byte* block, std::size_t block_size) noexcept;

  [[nodiscard]] BufferPoolStats stats() const;
  void set_limit(std::uint64_t idle_bytes);

 private:
  struct IdleBlock {
    std::byte* block = nullptr;
    std::uint64_t since = 0;  // the count of put() at that time
  };
  struct Mapping {
    std::byte* block = nullptr;
    std::size_t size = 0;
  };
  // Blocks of one size, idle longest at the front; the back is taken first, because it is still in the caches.
  struct SizeClass {
    std::size_t block_size = 0;
    std::deque<IdleBlock> idle;
  };

  [[nodiscard]] static std::size_t class_index_of(std::size_t block_size);
  // Frees idle blocks, oldest first, until at most so many bytes are idle.
  void trim(std::uint64_t idle_bytes) noexcept;
  // Removes the block that was idle longest, if more than so many bytes are idle.
  [[nodiscard]] std::optional<Mapping> remove_oldest_above(std::uint64_t idle_bytes) TESSERA_REQUIRES(mutex_);

  // Four steps for each power of two of a size_t.
  static constexpr std::size_t kClassCount = std::size_t{4} * 64;

  mutable ForkSafeMutex mutex_;
  std::array<SizeClass, kClassCount> classes_ TESSERA_GUARDED_BY(mutex_);
  std::uint64_t put_count_ TESSERA_GUARDED_BY(mutex_) = 0;
  std::uint64_t idle_bytes_ TESSERA_GUARDED_BY(mutex_) = 0;
  std::uint64_t used_bytes_ TESSERA_GUARDED_BY(mutex_) = 0;
  std::uint64_t limit_bytes_ TESSERA_GUARDED_BY(mutex_) = std::uint64_t{1} << 30;
};

}  // namespace tessera
