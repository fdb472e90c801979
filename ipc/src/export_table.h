// What this process has exported and not taken back: by it an import finds out that the memory is its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "device_blocks.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// Safe to use from any thread.
class ExportTable final : public std::enable_shared_from_this<ExportTable> {
 public:
  /// Keeps the block, and the entry, while it lives.
  [[nodiscard]] std::shared_ptr<void> add(const BlockHandle& handle, std::shared_ptr<const LocalBlock> block);

  /// The memory at an offset of an allocation, if an export of this process holds all of it; else nullptr. Other parts
  /// of the allocation were not exported, so they are not given.
  [[nodiscard]] std::shared_ptr<const LocalBlock> find(const IpcMemHandle& handle, std::uint64_t offset_bytes,
                                                       std::size_t size_bytes) const;
  /// Whether the handle is of an export of this process, alive or one of the last that have ended: no other process's.
  [[nodiscard]] bool is_own(const IpcMemHandle& handle) const;

 private:
  /// Of ended exports; 64 bytes each.
  static constexpr std::size_t kRemembered = 4096;

  struct Entry {
    std::uint64_t offset_bytes;
    std::shared_ptr<const LocalBlock> block;
  };
  using Entries = std::multimap<IpcMemHandle, Entry>;
  class Registration;

  void remember(const IpcMemHandle& handle) TESSERA_REQUIRES(mutex_);

  mutable Mutex mutex_;
  Entries entries_ TESSERA_GUARDED_BY(mutex_);
  std::set<IpcMemHandle> known_ TESSERA_GUARDED_BY(mutex_);
  std::deque<std::set<IpcMemHandle>::iterator> known_by_age_ TESSERA_GUARDED_BY(mutex_);
};

}  // namespace tessera
