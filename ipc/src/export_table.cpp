#include "export_table.h"

#include <utility>

namespace tessera {

class ExportTable::Registration final {
 public:
  Registration(std::shared_ptr<ExportTable> table, Entries::iterator entry) : table_(std::move(table)), entry_(entry) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    Entries::node_type removed;  // the memory goes after the lock
    const MutexLock lock(table_->mutex_);
    removed = table_->entries_.extract(entry_);
  }

 private:
  std::shared_ptr<ExportTable> table_;
  Entries::iterator entry_;
};

std::shared_ptr<void> ExportTable::add(const BlockHandle& handle, std::shared_ptr<const LocalBlock> block) {
  const MutexLock lock(mutex_);
  const auto entry = entries_.emplace(handle.handle, Entry{handle.offset_bytes, std::move(block)});
  return std::make_shared<Registration>(shared_from_this(), entry);
}

std::shared_ptr<const LocalBlock> ExportTable::find(const IpcMemHandle& handle, std::uint64_t offset_bytes,
                                                    std::size_t size_bytes) const {
  const MutexLock lock(mutex_);
  const auto [first, last] = entries_.equal_range(handle);
  for (auto entry = first; entry != last; ++entry) {
    const auto& [begin, block] = entry->second;
    if (offset_bytes < begin) {
      continue;
    }
    const std::uint64_t skipped_bytes = offset_bytes - begin;
    if (skipped_bytes > block->size_bytes() || size_bytes > block->size_bytes() - skipped_bytes) {
      continue;
    }
    if (skipped_bytes == 0 && size_bytes == block->size_bytes()) {
      return block;
    }
    return std::make_shared<PartBlock>(block, skipped_bytes, size_bytes);
  }
  return nullptr;
}

}  // namespace tessera
