// One GPU as this process sees it, and its primary context.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/result.h"
#include "tessera/base/uuid.h"
#include "tessera/cuda/driver.h"

namespace tessera {

/// Makes the primary context of a GPU current on this thread for the length of a scope, and puts back what was current.
/// Move-only; ends on the thread on which it began.
class ContextScope {
 public:
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;
  ContextScope(ContextScope&& other) noexcept;
  ContextScope& operator=(ContextScope&&) = delete;
  ~ContextScope();

 private:
  friend class Gpu;
  ContextScope(const Driver& driver, void* previous, bool is_changed)
      : driver_(&driver), previous_(previous), is_changed_(is_changed) {}

  const Driver* driver_;
  void* previous_;
  bool is_changed_;
};

/// What is free, and all there is, in bytes (cuMemGetInfo).
struct GpuMemory {
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
};

/// A visible GPU. Its primary context is retained when it is first entered (a context costs some 500 MiB of GPU
/// memory), once, and until the object goes. Safe to use from any thread.
class Gpu {
 public:
  struct Attributes {
    bool is_integrated = false;
    bool has_ipc_events = false;  ///< CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED; false also where IPC is not there at all
    bool is_mps = false;          ///< served through MPS
    bool is_prohibited = false;   ///< compute mode: no context may be made
    bool is_exclusive = false;    ///< compute mode: one process at a time
    std::string pci_bus_id;       ///< "0000:65:00.0"
  };

  /// All visible GPUs, in the order of their ordinals. Errors: of CUDA.
  [[nodiscard]] static Result<std::vector<std::shared_ptr<const Gpu>>> list(
      const std::shared_ptr<const Driver>& driver);

  Gpu(std::shared_ptr<const Driver> driver, int ordinal, Uuid uuid, std::string name, std::uint64_t memory_bytes,
      Attributes attributes);
  Gpu(const Gpu&) = delete;
  Gpu& operator=(const Gpu&) = delete;
  ~Gpu();

  /// The identity of the GPU, or of the MIG instance (cuDeviceGetUuid_v2).
  [[nodiscard]] const Uuid& uuid() const { return uuid_; }
  /// Its number in this process; says nothing to others.
  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] std::uint64_t memory_bytes() const { return memory_bytes_; }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }
  [[nodiscard]] const Driver& driver() const { return *driver_; }

  /// Every thread that calls CUDA does it inside a scope. Errors: the context cannot be made.
  [[nodiscard]] Result<ContextScope> enter() const;
  /// Errors: of CUDA.
  [[nodiscard]] Result<GpuMemory> memory() const;
  /// Waits for the work of one stream; nullptr is the legacy default stream. Errors: of CUDA.
  [[nodiscard]] Status synchronize(void* stream) const;
  /// Waits for the work of all streams of this process. Errors: of CUDA.
  [[nodiscard]] Status synchronize_all() const;

 private:
  struct Context;

  std::shared_ptr<const Driver> driver_;
  int ordinal_;
  Uuid uuid_;
  std::string name_;
  std::uint64_t memory_bytes_;
  Attributes attributes_;
  std::unique_ptr<Context> context_;
};

}  // namespace tessera
