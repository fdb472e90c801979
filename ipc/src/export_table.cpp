#include "export_table.h"

#include <new>
#include <optional>
#include <utility>

namespace tessera {

class ExportTable::Registration final {
 public:
  explicit Registration(std::shared_ptr<ExportTable> table) : table_(std::move(table)) {}
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    Entries::node_type removed;  // the memory goes after the lock
    const MutexLock lock(table_->mutex_);
    if (entry_) {
      removed = table_->entries_.extract(*entry_);
    }
  }

  void set_entry(Entries::iterator entry) { entry_ = entry; }

 private:
  std::shared_ptr<ExportTable> table_;
  std::optional<Entries::iterator> entry_;
};

std::shared_ptr<void> ExportTable::add(const BlockHandle& handle, std::shared_ptr<const LocalBlock> block) {
  // First, so that nothing is entered that nobody takes out.
  auto registration = std::make_shared<Registration>(shared_from_this());
  const MutexLock lock(mutex_);
  remember(handle.handle);
  registration->set_entry(entries_.emplace(handle.handle, Entry{handle.offset_bytes, std::move(block)}));
  return registration;
}

// A buffer of the pool has the same handle each time, so that a steady workload adds nothing.
void ExportTable::remember(const IpcMemHandle& handle) {
  const auto [known, is_new] = known_.insert(handle);
  if (!is_new) {
    return;
  }
  try {
    known_by_age_.push_back(known);
  } catch (const std::bad_alloc&) {
    known_.erase(known);
    throw;
  }
  if (known_by_age_.size() > kRemembered) {
    known_.erase(known_by_age_.front());
    known_by_age_.pop_front();
  }
}

bool ExportTable::is_own(const IpcMemHandle& handle) const {
  const MutexLock lock(mutex_);
  return entries_.contains(handle) || known_.contains(handle);
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
