#include "driver_call.h"
#include "pack_plan.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {
namespace {

Status start_copy(const Driver& driver, std::uint64_t target, std::uint64_t source, const RowCopy& rows) {
  const DriverFunctions& functions = driver.functions();
  const std::uint64_t from =
      (rows.is_within_target ? target : source) + static_cast<std::uint64_t>(rows.source_offset_bytes);
  const std::uint64_t to = target + static_cast<std::uint64_t>(rows.target_offset_bytes);
  if (rows.height == 1) {
    return status_of(driver, "cuMemcpyDtoD",
                     functions.memcpy_on_device(to, from, rows.width_bytes, per_thread_stream()));
  }
  CuMemcpy2D copy{};
  copy.source_type = kMemoryTypeDevice;
  copy.source_device = from;
  copy.source_pitch = rows.source_pitch_bytes;
  copy.target_type = kMemoryTypeDevice;
  copy.target_device = to;
  copy.target_pitch = rows.target_pitch_bytes;
  copy.width_bytes = rows.width_bytes;
  copy.height = rows.height;
  return status_of(driver, "cuMemcpy2D", functions.memcpy_2d(&copy, per_thread_stream()));
}

}  // namespace

Status pack_on_device(const Gpu& gpu, std::uint64_t target, std::uint64_t source, std::size_t item_size_bytes,
                      std::span<const std::int64_t> shape, std::span<const std::int64_t> strides_bytes) {
  TESSERA_ASSIGN_OR_RETURN(const PackPlan plan, PackPlan::make(item_size_bytes, shape, strides_bytes));
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu.enter());
  const Driver& driver = gpu.driver();
  const Status started = plan.for_each(
      [&driver, target, source](const RowCopy& rows) { return start_copy(driver, target, source, rows); });
  // Also after a failure: what was started before it may not outlive the buffers.
  const Status done = wait_for_own_stream(driver);
  return started ? done : started;
}

}  // namespace tessera
