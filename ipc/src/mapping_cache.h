// The memory of other processes that is mapped here: each handle once, counted, and for a while longer than it is used.
#pragma once

#include <compare>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "tessera/base/clock.h"
#include "tessera/base/mutex.h"
#include "tessera/base/result.h"
#include "tessera/cuda/closer.h"
#include "tessera/cuda/device_memory.h"
#include "transport_counts.h"

namespace tessera {

/// Safe to use from any thread. Opens and closes outside its lock, since both may wait for the device.
class MappingCache final : public std::enable_shared_from_this<MappingCache> {
 private:
  struct Entry;
  class Closing;

 public:
  struct Limits {
    std::uint64_t idle_bytes = 0;  ///< in mappings that nobody uses
    std::size_t idle_count = 1024;
    Clock::Instant::duration idle_time{};
  };

  /// A use of a mapping, which stays open while it lives. Safe to drop on any thread.
  class Lease final {
   public:
    Lease(std::shared_ptr<MappingCache> cache, std::shared_ptr<Entry> entry);
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    ~Lease();

    [[nodiscard]] const IpcMapping& mapping() const;

   private:
    std::shared_ptr<MappingCache> cache_;
    std::shared_ptr<Entry> entry_;
  };

  /// `clock` outlives it.
  MappingCache(Limits limits, const Clock& clock, std::shared_ptr<TransportCounts> counts,
               std::shared_ptr<Closer> closer);

  /// The mapping of a handle, opened by the first who asks; others wait for that. If the driver says that an older
  /// mapping is in the way (208), the unused ones of the GPU are closed and it is tried once more. Errors: of CUDA.
  [[nodiscard]] Result<std::shared_ptr<const Lease>> open(const std::shared_ptr<const Gpu>& gpu,
                                                          const IpcMemHandle& handle);
  /// Closes what nobody has used for the idle time.
  void trim();

 private:
  struct Key {
    int ordinal;
    IpcMemHandle handle;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  using Entries = std::map<Key, std::shared_ptr<Entry>>;

  /// Opens the mapping of an entry that others wait for. Throws std::bad_alloc; then they have been told.
  void open_entry(const std::shared_ptr<const Gpu>& gpu, const std::shared_ptr<Entry>& entry);
  [[nodiscard]] Result<IpcMapping> open_mapping(const std::shared_ptr<const Gpu>& gpu, const IpcMemHandle& handle);
  [[nodiscard]] std::shared_ptr<const Lease> lease(const std::shared_ptr<Entry>& entry);
  void close_unused(int ordinal);
  void release(const std::shared_ptr<Entry>& entry) noexcept;
  /// Moves an entry that nobody uses to those that are closed next. Takes no memory, so that nothing is lost half way.
  void remove_unused(Entries::iterator entry, Entries& removed) noexcept TESSERA_REQUIRES(mutex_);
  void remove_oldest(Entries& removed) noexcept TESSERA_REQUIRES(mutex_);
  void close(const Entries& entries) noexcept;
  /// The same by the closer.
  void close_later(Entries entries) noexcept;

  const Limits limits_;
  const Clock& clock_;
  const std::shared_ptr<TransportCounts> counts_;
  const std::shared_ptr<Closer> closer_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  Entries entries_ TESSERA_GUARDED_BY(mutex_);
  std::size_t closing_ TESSERA_GUARDED_BY(mutex_) = 0;  // removed, not closed yet
  std::uint64_t idle_bytes_ TESSERA_GUARDED_BY(mutex_) = 0;
  std::size_t idle_count_ TESSERA_GUARDED_BY(mutex_) = 0;
};

}  // namespace tessera
