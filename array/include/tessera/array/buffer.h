// Counted, aligned host memory from a pool that keeps large buffers warm.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace tessera {

/// A handle to host memory that its handles share. Copying a handle shares; the last one gives the memory back to the
/// pool. Handles may be copied and dropped from any thread; the bytes follow the usual rule of one writer.
class Buffer {
 public:
  /// An empty buffer.
  Buffer() = default;

  /// Takes `size_bytes` bytes, uninitialised, aligned to kAlignmentBytes, from the process-wide pool (as malloc is
  /// process-wide); no bytes, no memory. Buffers of 64 KiB and more are kept for the next use within the limit of
  /// set_buffer_pool_limit(), since the first touch of fresh pages costs more than any codec; those above 1.5 MiB lie
  /// on huge pages where the kernel gives them. Throws std::bad_alloc.
  [[nodiscard]] static Buffer allocate(std::size_t size_bytes);
  /// Wraps memory that `owner` keeps alive; the last handle drops `owner`, on whatever thread that is. The caller
  /// guarantees the alignment that its element type needs.
  [[nodiscard]] static Buffer adopt(std::shared_ptr<void> owner, std::byte* data, std::size_t size_bytes);

  /// nullptr if empty. Writable through a constant handle too.
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] std::span<std::byte> bytes() const { return {data_, size_bytes_}; }
  /// Whether this is the only handle (true for an empty one). If so, what others did through theirs has happened
  /// before.
  [[nodiscard]] bool is_unique() const;
  /// A handle to the first `size_bytes` of the same memory. Requires: size_bytes <= size_bytes().
  [[nodiscard]] Buffer first(std::size_t size_bytes) const;

  /// Of data() of what allocate() gave.
  static constexpr std::size_t kAlignmentBytes = 64;

 private:
  std::shared_ptr<void> owner_;
  std::byte* data_ = nullptr;
  std::size_t size_bytes_ = 0;
};

/// What the pool holds now, in whole blocks: up to a quarter more than was asked for, or the next huge page. Buffers
/// under 64 KiB come from malloc and are not counted.
struct BufferPoolStats {
  std::uint64_t used_bytes = 0;  ///< in buffers that have a handle
  std::uint64_t idle_bytes = 0;  ///< kept for the next use
};
/// Safe to call from any thread.
[[nodiscard]] BufferPoolStats buffer_pool_stats();
/// Bounds what the pool keeps idle; default 1 GiB. Frees what is over it, what was idle longest first. Safe to call
/// from any thread.
void set_buffer_pool_limit(std::uint64_t idle_bytes);

}  // namespace tessera
