// The GPUs of this process: the one place where device arrays are made.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/array/array.h"
#include "tessera/array/device_array.h"
#include "tessera/base/clock.h"
#include "tessera/base/result.h"
#include "tessera/cuda/closer.h"
#include "tessera/cuda/device_pool.h"
#include "tessera/cuda/gpu.h"
#include "tessera/ipc/transport_problem.h"

namespace tessera {

/// GPU memory of an author or of a foreign library, to be handed on as an array.
struct ForeignMemory {
  std::uint64_t address = 0;    ///< a CUdeviceptr of this process: the array's first element
  std::shared_ptr<void> owner;  ///< keeps it alive; dropped on any thread
  /// The CUstream whose work fills it; nullptr is the legacy default stream. It is waited for before the inputs of the
  /// call that hands the array on are given back, so that it may read them.
  void* stream = nullptr;
  /// Of each axis; empty means C order. What is not in C order is packed into memory of the pool at once.
  std::vector<std::int64_t> strides_bytes;
};

/// Why an array on a GPU is not copied to the host under TESSERACT_FORBID_DEVICE_HOST_COPY.
[[nodiscard]] Error host_copy_forbidden();

/// Which way arrays took, since the start. All are counts but those that say bytes.
struct TransportCounters {
  std::uint64_t exports_in_place = 0;  ///< the array's own allocation was named
  std::uint64_t exports_staged = 0;    ///< it was copied on the device first
  std::uint64_t handles_taken = 0;     ///< cuIpcGetMemHandle
  std::uint64_t handles_opened = 0;    ///< cuIpcOpenMemHandle
  std::uint64_t handles_closed = 0;
  std::uint64_t mapping_hits = 0;    ///< imports whose handle was open already
  std::uint64_t stale_mappings = 0;  ///< closed because the driver answered 208
  std::uint64_t imports_copied = 0;  ///< on the device
  std::uint64_t imports_borrowed = 0;
  std::uint64_t imports_same_process = 0;
  std::uint64_t copies_to_host = 0;  ///< by GpuSystem::to_host(), as endpoints call it
  std::uint64_t copies_to_host_bytes = 0;
  std::uint64_t mapped_bytes = 0;  ///< now
  std::uint64_t exhaustions = 0;   ///< buffers that could not be had: the GPU had no memory left
};

/// Driver, GPUs and their pools, or why there are none. Safe to use from any thread; made once, by the program.
class GpuSystem {
 public:
  struct Options {
    std::string driver_library = "libcuda.so.1";
    double pool_fraction = 0.25;         ///< of each GPU's memory that idle buffers may keep; 0: no reuse
    std::chrono::seconds idle_time{30};  ///< after which idle buffers and mappings are given back
    /// Of other processes' memory that mappings keep open which nobody uses.
    std::uint64_t idle_mapping_bytes = std::uint64_t{16} << 30U;
    /// Drops memory and mappings whose last user may not wait for the GPU.
    std::shared_ptr<Closer> closer = drop_at_once();
  };

  /// Never fails: where there is no GPU, problem() says why. `clock` outlives it.
  [[nodiscard]] static std::shared_ptr<GpuSystem> open(const Options& options, const Clock& clock);

  GpuSystem(const GpuSystem&) = delete;
  GpuSystem& operator=(const GpuSystem&) = delete;
  virtual ~GpuSystem() = default;

  /// Why no GPU can be used; nothing if one can.
  [[nodiscard]] virtual const std::optional<TransportProblem>& problem() const = 0;
  /// The driver's version, 13000 for CUDA 13.0; 0 without one.
  [[nodiscard]] virtual int driver_version() const = 0;
  [[nodiscard]] virtual const std::vector<std::shared_ptr<const Gpu>>& gpus() const = 0;
  /// nullptr if this process does not see it.
  [[nodiscard]] virtual std::shared_ptr<const Gpu> find(const Uuid& gpu) const = 0;

  /// An array whose elements are not set, in a buffer of the pool: it is exported without another copy. Without
  /// elements it takes no memory. Once it is dropped others get the buffer at once: no work may use it any more.
  /// Errors: kNotFound (no such GPU), kOutOfMemory, others of CUDA.
  [[nodiscard]] virtual Result<Array> allocate(const Uuid& gpu, DType dtype, Shape shape) = 0;
  /// An array over memory that is there. Errors: kInvalidArgument if the driver does not know the address as memory of
  /// a GPU, if the allocation ends before the array does, or if the strides do not fit; others of CUDA.
  [[nodiscard]] virtual Result<Array> wrap(DType dtype, Shape shape, ForeignMemory memory) = 0;
  /// A copy on the GPU. Errors: as allocate().
  [[nodiscard]] virtual Result<Array> to_device(const Array& array, const Uuid& gpu) = 0;
  /// A copy in host memory; counted. Host arrays are handed back as they are. Errors: of CUDA.
  [[nodiscard]] virtual Result<Array> to_host(const Array& array) = 0;

  /// Gives back what has been idle for too long; to be called every few seconds.
  virtual void trim() = 0;
  [[nodiscard]] virtual TransportCounters counters() const = 0;
  /// The one of them that is cheap to ask for.
  [[nodiscard]] virtual std::uint64_t exhaustions() const = 0;
  /// One per GPU, in their order.
  [[nodiscard]] virtual std::vector<DevicePool::Stats> pool_stats() const = 0;

 protected:
  GpuSystem() = default;
};

}  // namespace tessera
