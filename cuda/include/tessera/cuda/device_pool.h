// GPU buffers that are kept for the next use, with the IPC handle of each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "tessera/base/clock.h"
#include "tessera/base/result.h"
#include "tessera/cuda/closer.h"
#include "tessera/cuda/device_memory.h"
#include "tessera/cuda/gpu.h"

namespace tessera {

/// A buffer of the pool: an allocation of its own, so that whoever opens its handle sees nothing else. Shared; goes
/// back to the pool with its last handle, from any thread. The bytes follow the usual rule of one writer.
class PooledMemory {
 public:
  PooledMemory() = default;
  PooledMemory(const PooledMemory&) = delete;
  PooledMemory& operator=(const PooledMemory&) = delete;
  virtual ~PooledMemory() = default;

  [[nodiscard]] virtual const std::shared_ptr<const Gpu>& gpu() const = 0;
  [[nodiscard]] virtual std::uint64_t address() const = 0;
  /// A multiple of DevicePool::kGranularityBytes, at least what was asked for.
  [[nodiscard]] virtual std::size_t capacity_bytes() const = 0;
  /// The handle, asked of the driver once in the life of the allocation. Safe to call from any thread. Errors: of CUDA.
  [[nodiscard]] virtual Result<IpcMemHandle> handle() = 0;
};

/// A pool on one GPU. Safe to use from any thread; frees outside its lock. Buffers keep it alive.
class DevicePool {
 public:
  /// The page of GPU memory: smaller allocations share it with neighbours, who would be readable through a handle.
  static constexpr std::size_t kGranularityBytes = std::size_t{2} << 20;

  struct Stats {
    std::uint64_t used_bytes = 0;  ///< in buffers that somebody holds
    std::uint64_t idle_bytes = 0;  ///< kept for the next use
    std::uint64_t allocations = 0;
    std::uint64_t reuses = 0;
    std::uint64_t handles_taken = 0;
  };

  /// Keeps at most `idle_limit_bytes` for the next use (0: none), those used last; frees what was idle for `idle_time`
  /// when trim() is called, and by `closer` what comes back beyond the limit. `clock` outlives it.
  [[nodiscard]] static std::shared_ptr<DevicePool> make(std::shared_ptr<const Gpu> gpu, std::uint64_t idle_limit_bytes,
                                                        Clock::Instant::duration idle_time, const Clock& clock,
                                                        std::shared_ptr<Closer> closer = drop_at_once());

  DevicePool(const DevicePool&) = delete;
  DevicePool& operator=(const DevicePool&) = delete;
  virtual ~DevicePool() = default;

  /// A buffer of at least `size_bytes` > 0, not cleared, and zero beyond size_bytes up to its capacity never holds what
  /// another client sent: what is behind the array in a buffer that was used before is cleared first. If the GPU has no
  /// memory left, frees all idle buffers, waits for those that are being freed, and tries once more. Errors:
  /// kOutOfMemory, others of CUDA.
  [[nodiscard]] virtual Result<std::shared_ptr<PooledMemory>> allocate(std::size_t size_bytes) = 0;
  /// Frees what was idle for too long; to be called now and then.
  virtual void trim() = 0;
  [[nodiscard]] virtual Stats stats() const = 0;

 protected:
  DevicePool() = default;
};

}  // namespace tessera
