#include "mapping_cache.h"

#include <new>
#include <utility>

#include "tessera/cuda/driver_functions.h"

namespace tessera {

struct MappingCache::Entry {
  explicit Entry(Key entry_key) : key(entry_key) {}

  const Key key;
  // Guarded by the cache's lock, but for `mapping`, which does not change between opening and closing.
  std::size_t users = 1;
  std::unique_ptr<const IpcMapping> mapping;
  std::unique_ptr<const Error> error;
  bool is_lost = false;  // opening it threw
  Clock::Instant last_use;
};

MappingCache::Lease::Lease(std::shared_ptr<MappingCache> cache, std::shared_ptr<Entry> entry)
    : cache_(std::move(cache)), entry_(std::move(entry)) {}

MappingCache::Lease::~Lease() {
  cache_->release(entry_);
}

const IpcMapping& MappingCache::Lease::mapping() const {
  return *entry_->mapping;
}

/// Mappings that are closed as it goes.
class MappingCache::Closing final {
 public:
  Closing(std::shared_ptr<MappingCache> cache, Entries entries)
      : cache_(std::move(cache)), entries_(std::move(entries)) {}
  Closing(const Closing&) = delete;
  Closing& operator=(const Closing&) = delete;
  ~Closing() { cache_->close(entries_); }

 private:
  std::shared_ptr<MappingCache> cache_;
  Entries entries_;
};

MappingCache::MappingCache(Limits limits, const Clock& clock, std::shared_ptr<TransportCounts> counts,
                           std::shared_ptr<Closer> closer)
    : limits_(limits), clock_(clock), counts_(std::move(counts)), closer_(std::move(closer)) {}

Result<std::shared_ptr<const MappingCache::Lease>> MappingCache::open(const std::shared_ptr<const Gpu>& gpu,
                                                                      const IpcMemHandle& handle) {
  const Key key{gpu->ordinal(), handle};
  std::shared_ptr<Entry> entry;
  bool is_new = false;
  {
    const MutexLock lock(mutex_);
    if (const auto found = entries_.find(key); found != entries_.end()) {
      entry = found->second;
      if (entry->users++ == 0) {
        --idle_count_;
        idle_bytes_ -= entry->mapping->size_bytes();
      }
      while (!entry->mapping && !entry->error && !entry->is_lost) {
        changed_.wait(mutex_);
      }
      counts_->mapping_hits += entry->mapping ? 1 : 0;
    } else {
      entry = std::make_shared<Entry>(key);
      entries_.emplace(key, entry);
      is_new = true;
    }
  }
  if (is_new) {
    open_entry(gpu, entry);
  }
  if (entry->is_lost) {
    return Error(ErrorCode::kOutOfMemory, "there was no host memory to open the handle");
  }
  if (entry->error) {
    return *entry->error;
  }
  return lease(entry);
}

void MappingCache::open_entry(const std::shared_ptr<const Gpu>& gpu, const std::shared_ptr<Entry>& entry) {
  try {
    Result<IpcMapping> opened = open_mapping(gpu, entry->key.handle);
    std::unique_ptr<const IpcMapping> mapping;
    std::unique_ptr<const Error> error;
    if (opened) {
      mapping = std::make_unique<const IpcMapping>(*std::move(opened));
    } else {
      error = std::make_unique<const Error>(opened.error());
    }
    const MutexLock lock(mutex_);
    if (mapping) {
      counts_->mapped_bytes += mapping->size_bytes();
      entry->mapping = std::move(mapping);
    } else {
      entry->error = std::move(error);
      entries_.erase(entry->key);
    }
    changed_.notify_all();
  } catch (...) {
    const MutexLock lock(mutex_);
    entry->is_lost = true;
    entries_.erase(entry->key);
    changed_.notify_all();
    throw;
  }
}

std::shared_ptr<const MappingCache::Lease> MappingCache::lease(const std::shared_ptr<Entry>& entry) {
  try {
    return std::make_shared<Lease>(shared_from_this(), entry);
  } catch (...) {
    release(entry);
    throw;
  }
}

Result<IpcMapping> MappingCache::open_mapping(const std::shared_ptr<const Gpu>& gpu, const IpcMemHandle& handle) {
  Result<IpcMapping> mapping = IpcMapping::open(gpu, handle);
  if (!mapping && mapping.error().native_code() == kCudaAlreadyMapped) {
    close_unused(gpu->ordinal());
    mapping = IpcMapping::open(gpu, handle);
  }
  if (mapping) {
    ++counts_->handles_opened;
  }
  return mapping;
}

// A handle does not say whose it is, nor where it will lie: any of them may be in the way.
void MappingCache::close_unused(int ordinal) {
  Entries unused;
  {
    const MutexLock lock(mutex_);
    for (auto next = entries_.begin(); next != entries_.end();) {
      const auto entry = next++;
      if (entry->first.ordinal == ordinal && entry->second->users == 0) {
        remove_unused(entry, unused);
      }
    }
  }
  counts_->stale_mappings += unused.size();
  close(unused);
  // Another thread may be about to close the one that matters.
  const MutexLock lock(mutex_);
  while (closing_ != 0) {
    changed_.wait(mutex_);
  }
}

void MappingCache::release(const std::shared_ptr<Entry>& entry) noexcept {
  Entries closed;
  {
    const MutexLock lock(mutex_);
    entry->last_use = clock_.now();
    if (--entry->users != 0) {
      return;
    }
    ++idle_count_;
    idle_bytes_ += entry->mapping->size_bytes();
    while (idle_count_ > limits_.idle_count || idle_bytes_ > limits_.idle_bytes) {
      remove_oldest(closed);
    }
  }
  close_later(std::move(closed));
}

void MappingCache::remove_unused(Entries::iterator entry, Entries& removed) noexcept {
  ++closing_;
  --idle_count_;
  idle_bytes_ -= entry->second->mapping->size_bytes();
  removed.insert(entries_.extract(entry));
}

void MappingCache::remove_oldest(Entries& removed) noexcept {
  auto oldest = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (entry->second->users == 0 && (oldest == entries_.end() || entry->second->last_use < oldest->second->last_use)) {
      oldest = entry;
    }
  }
  remove_unused(oldest, removed);
}

void MappingCache::trim() {
  const Clock::Instant now = clock_.now();
  Entries closed;
  {
    const MutexLock lock(mutex_);
    for (auto next = entries_.begin(); next != entries_.end();) {
      const auto entry = next++;
      if (entry->second->users == 0 && now - entry->second->last_use >= limits_.idle_time) {
        remove_unused(entry, closed);
      }
    }
  }
  close(closed);
}

void MappingCache::close(const Entries& entries) noexcept {
  if (entries.empty()) {
    return;
  }
  for (const auto& [key, entry] : entries) {
    counts_->mapped_bytes -= entry->mapping->size_bytes();
    entry->mapping.reset();
    ++counts_->handles_closed;
  }
  const MutexLock lock(mutex_);
  closing_ -= entries.size();
  changed_.notify_all();
}

void MappingCache::close_later(Entries entries) noexcept {
  if (entries.empty()) {
    return;
  }
  try {
    closer_->drop(std::make_shared<Closing>(shared_from_this(), std::move(entries)));
  } catch (const std::bad_alloc&) {
    close(entries);  // it was not moved from yet
  }
}

}  // namespace tessera
