#include "tessera/cuda/gpu.h"

#include <array>
#include <atomic>
#include <utility>

#include "driver_call.h"
#include "tessera/base/mutex.h"

namespace tessera {
namespace {

// Attributes that an older driver does not know count as zero.
int attribute_of(const Driver& driver, int attribute, int device) {
  int value = 0;
  return driver.functions().device_get_attribute(&value, attribute, device) == kCudaSuccess ? value : 0;
}

Gpu::Attributes attributes_of(const Driver& driver, int device) {
  Gpu::Attributes attributes;
  attributes.is_integrated = attribute_of(driver, kDeviceIntegrated, device) != 0;
  attributes.has_ipc_events = attribute_of(driver, kDeviceIpcEventSupported, device) != 0;
  attributes.is_mps = attribute_of(driver, kDeviceMpsEnabled, device) != 0;
  const int compute_mode = attribute_of(driver, kDeviceComputeMode, device);
  attributes.is_prohibited = compute_mode == kComputeModeProhibited;
  attributes.is_exclusive = compute_mode == kComputeModeExclusive;
  std::array<char, 32> bus_id{};
  if (driver.functions().device_get_pci_bus_id(bus_id.data(), static_cast<int>(bus_id.size()), device) ==
      kCudaSuccess) {
    bus_id.back() = '\0';
    attributes.pci_bus_id = bus_id.data();
  }
  return attributes;
}

Result<std::shared_ptr<const Gpu>> describe(const std::shared_ptr<const Driver>& driver, int ordinal) {
  const DriverFunctions& functions = driver->functions();
  int device = 0;
  TESSERA_RETURN_IF_ERROR(status_of(*driver, "cuDeviceGet", functions.device_get(&device, ordinal)));
  CuUuid uuid{};
  TESSERA_RETURN_IF_ERROR(status_of(*driver, "cuDeviceGetUuid", functions.device_get_uuid(&uuid, device)));
  std::array<char, 256> name{};
  TESSERA_RETURN_IF_ERROR(status_of(*driver, "cuDeviceGetName",
                                    functions.device_get_name(name.data(), static_cast<int>(name.size()), device)));
  name.back() = '\0';
  std::size_t memory_bytes = 0;
  TESSERA_RETURN_IF_ERROR(status_of(*driver, "cuDeviceTotalMem", functions.device_total_mem(&memory_bytes, device)));
  return std::shared_ptr<const Gpu>(std::make_shared<Gpu>(driver, ordinal, Uuid{uuid.bytes}, std::string(name.data()),
                                                          memory_bytes, attributes_of(*driver, device)));
}

}  // namespace

// The primary context, once it is retained. A retain makes nothing current.
struct Gpu::Context {
  std::atomic<CuContext> context{nullptr};
  Mutex mutex;
  int device = 0;  // set before `context`
};

ContextScope::ContextScope(ContextScope&& other) noexcept
    : driver_(other.driver_),
      previous_(std::exchange(other.previous_, nullptr)),
      is_changed_(std::exchange(other.is_changed_, false)) {}

ContextScope::~ContextScope() {
  if (is_changed_) {
    // At exit, and in a forked child, the driver refuses: then there is nothing to put back.
    driver_->functions().context_set_current(previous_);
  }
}

Gpu::Gpu(std::shared_ptr<const Driver> driver, int ordinal, Uuid uuid, std::string name, std::uint64_t memory_bytes,
         Attributes attributes)
    : driver_(std::move(driver)),
      ordinal_(ordinal),
      uuid_(uuid),
      name_(std::move(name)),
      memory_bytes_(memory_bytes),
      attributes_(std::move(attributes)),
      context_(std::make_unique<Context>()) {}

Gpu::~Gpu() {
  if (context_->context.load() != nullptr) {
    driver_->functions().primary_context_release(context_->device);
  }
}

Result<std::vector<std::shared_ptr<const Gpu>>> Gpu::list(const std::shared_ptr<const Driver>& driver) {
  int count = 0;
  TESSERA_RETURN_IF_ERROR(status_of(*driver, "cuDeviceGetCount", driver->functions().device_get_count(&count)));
  std::vector<std::shared_ptr<const Gpu>> gpus;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const Gpu> gpu, describe(driver, ordinal));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

Result<ContextScope> Gpu::enter() const {
  const DriverFunctions& functions = driver_->functions();
  CuContext context = context_->context.load(std::memory_order_acquire);
  if (context == nullptr) {
    const MutexLock lock(context_->mutex);
    context = context_->context.load(std::memory_order_acquire);
    if (context == nullptr) {
      TESSERA_RETURN_IF_ERROR(status_of(*driver_, "cuDeviceGet", functions.device_get(&context_->device, ordinal_)));
      TESSERA_RETURN_IF_ERROR(status_of(*driver_, "cuDevicePrimaryCtxRetain",
                                        functions.primary_context_retain(&context, context_->device)));
      context_->context.store(context, std::memory_order_release);
    }
  }
  CuContext previous = nullptr;
  TESSERA_RETURN_IF_ERROR(status_of(*driver_, "cuCtxGetCurrent", functions.context_get_current(&previous)));
  if (previous == context) {
    return ContextScope(*driver_, nullptr, false);
  }
  TESSERA_RETURN_IF_ERROR(status_of(*driver_, "cuCtxSetCurrent", functions.context_set_current(context)));
  return ContextScope(*driver_, previous, true);
}

Result<GpuMemory> Gpu::memory() const {
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, enter());
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  TESSERA_RETURN_IF_ERROR(
      status_of(*driver_, "cuMemGetInfo", driver_->functions().mem_get_info(&free_bytes, &total_bytes)));
  return GpuMemory{free_bytes, total_bytes};
}

Status Gpu::synchronize(void* stream) const {
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, enter());
  return status_of(*driver_, "cuStreamSynchronize", driver_->functions().stream_synchronize(stream));
}

Status Gpu::synchronize_all() const {
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, enter());
  return status_of(*driver_, "cuCtxSynchronize", driver_->functions().context_synchronize());
}

}  // namespace tessera
