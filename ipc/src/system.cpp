#include "system.h"

#include <algorithm>
#include <utility>
#include <variant>

#include "tessera/base/python_text.h"

namespace tessera {
namespace {

TransportReason reason_of(DriverProblem problem) {
  switch (problem) {
    case DriverProblem::kNoDriver:
      return TransportReason::kNoDriver;
    case DriverProblem::kStubDriver:
      return TransportReason::kStubDriver;
    case DriverProblem::kNoDevice:
      return TransportReason::kNoDevice;
    case DriverProblem::kDriverTooOld:
      return TransportReason::kDriverTooOld;
    case DriverProblem::kSymbolMissing:
      return TransportReason::kSymbolMissing;
    case DriverProblem::kNoPermission:
      return TransportReason::kNoPermission;
    case DriverProblem::kFailed:
      break;
  }
  return TransportReason::kDriverFailed;
}

std::uint64_t share_of(std::uint64_t bytes, double fraction) {
  return static_cast<std::uint64_t>(static_cast<double>(bytes) * std::clamp(fraction, 0.0, 1.0));
}

}  // namespace

Result<std::size_t> bytes_of(const Shape& shape, DType dtype) {
  const std::optional<std::uint64_t> bytes = byte_count(shape, dtype);
  if (!bytes) {
    return Error(ErrorCode::kInvalidArgument,
                 "an array of shape " + python_shape(shape) + " has negative sizes or too many elements");
  }
  return static_cast<std::size_t>(*bytes);
}

Error host_copy_forbidden() {
  return {ErrorCode::kInvalidArgument,
          "an array in GPU memory would be copied to the host, which TESSERACT_FORBID_DEVICE_HOST_COPY forbids"};
}

std::shared_ptr<GpuSystem> GpuSystem::open(const Options& options, const Clock& clock) {
  return std::make_shared<System>(options, clock);
}

System::System(const Options& options, const Clock& clock)
    : closer_(options.closer),
      counts_(std::make_shared<TransportCounts>()),
      mappings_(std::make_shared<MappingCache>(
          MappingCache::Limits{.idle_bytes = options.idle_mapping_bytes, .idle_time = options.idle_time}, clock,
          counts_, options.closer)),
      exports_(std::make_shared<ExportTable>()) {
  auto loaded = Driver::load(options.driver_library);
  if (const auto* const unavailable = std::get_if<DriverUnavailable>(&loaded)) {
    problem_ = TransportProblem{reason_of(unavailable->problem), unavailable->sentence};
    return;
  }
  driver_ = std::get<std::shared_ptr<const Driver>>(std::move(loaded));
  find_gpus(options, clock);
}

void System::find_gpus(const Options& options, const Clock& clock) {
  Result<std::vector<std::shared_ptr<const Gpu>>> gpus = Gpu::list(driver_);
  if (!gpus) {
    problem_ = make_problem(TransportReason::kDriverFailed, gpus.error().message());
    return;
  }
  gpus_ = *std::move(gpus);
  if (gpus_.empty()) {
    problem_ = make_problem(TransportReason::kNoDevice);
    return;
  }
  for (const std::shared_ptr<const Gpu>& gpu : gpus_) {
    pools_.push_back(DevicePool::make(gpu, share_of(gpu->memory_bytes(), options.pool_fraction), options.idle_time,
                                      clock, options.closer));
  }
  if (std::ranges::all_of(gpus_, [](const auto& gpu) { return gpu->attributes().is_prohibited; })) {
    problem_ = make_problem(TransportReason::kProhibitedMode, "no process may use the GPU");
  }
}

std::shared_ptr<const Gpu> System::find(const Uuid& gpu) const {
  const auto found = std::ranges::find_if(gpus_, [&gpu](const auto& candidate) { return candidate->uuid() == gpu; });
  return found == gpus_.end() ? nullptr : *found;
}

Result<std::shared_ptr<const Gpu>> System::require(const Uuid& gpu) const {
  if (gpus_.empty() && problem_) {
    return Error(ErrorCode::kUnavailable, problem_->sentence);
  }
  std::shared_ptr<const Gpu> found = find(gpu);
  if (found == nullptr) {
    return Error(ErrorCode::kNotFound,
                 "The array lives on the GPU with UUID " + gpu.text() +
                     ", which this process cannot see. Give both processes access to that GPU (e.g. via --gpus or "
                     "CUDA_VISIBLE_DEVICES).");
  }
  return found;
}

Result<std::shared_ptr<const LocalBlock>> System::allocate_block(const std::shared_ptr<const Gpu>& gpu,
                                                                 std::size_t size_bytes) {
  if (size_bytes == 0) {
    return std::shared_ptr<const LocalBlock>(std::make_shared<EmptyBlock>(gpu));
  }
  const auto at = std::ranges::find(gpus_, gpu) - gpus_.begin();
  Result<std::shared_ptr<PooledMemory>> memory = pools_.at(static_cast<std::size_t>(at))->allocate(size_bytes);
  if (!memory) {
    counts_->exhaustions += memory.error().code() == ErrorCode::kOutOfMemory ? 1 : 0;
    return memory.error();
  }
  return std::shared_ptr<const LocalBlock>(std::make_shared<PooledBlock>(*std::move(memory), size_bytes));
}

Result<std::shared_ptr<const LocalBlock>> System::block_of(const Array& array) const {
  if (!array.is_on_device()) {
    return Error(ErrorCode::kInvalidArgument, "the array is in host memory, not on a GPU");
  }
  std::shared_ptr<const LocalBlock> block = std::dynamic_pointer_cast<const LocalBlock>(array.device());
  if (block == nullptr || std::ranges::find(gpus_, block->device()) == gpus_.end()) {
    return Error(ErrorCode::kInvalidArgument, "the array on the GPU was not made by this process's GpuSystem");
  }
  return block;
}

Result<std::shared_ptr<const LocalBlock>> System::copy_block(const LocalBlock& block, std::size_t size_bytes,
                                                             const std::shared_ptr<const Gpu>& gpu) {
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const LocalBlock> copy, allocate_block(gpu, size_bytes));
  if (size_bytes != 0) {
    TESSERA_RETURN_IF_ERROR(block.wait());
    TESSERA_RETURN_IF_ERROR(copy_on_device(*gpu, copy->address(), block.address(), size_bytes));
  }
  return copy;
}

Result<Array> System::allocate(const Uuid& gpu, DType dtype, Shape shape) {
  TESSERA_ASSIGN_OR_RETURN(const std::size_t size_bytes, bytes_of(shape, dtype));
  TESSERA_ASSIGN_OR_RETURN(const std::shared_ptr<const Gpu> found, require(gpu));
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const LocalBlock> block, allocate_block(found, size_bytes));
  return Array::on_device(dtype, std::move(shape), std::move(block));
}

Result<Array> System::to_device(const Array& array, const Uuid& gpu) {
  TESSERA_ASSIGN_OR_RETURN(const std::shared_ptr<const Gpu> found, require(gpu));
  if (!array.has_data()) {
    return Error(ErrorCode::kInvalidArgument, "the array has no data, only its shape");
  }
  std::shared_ptr<const LocalBlock> copy;
  if (array.is_on_device()) {
    TESSERA_ASSIGN_OR_RETURN(const std::shared_ptr<const LocalBlock> block, block_of(array));
    TESSERA_ASSIGN_OR_RETURN(copy, copy_block(*block, array.size_bytes(), found));
  } else {
    TESSERA_ASSIGN_OR_RETURN(copy, allocate_block(found, array.size_bytes()));
    TESSERA_RETURN_IF_ERROR(copy_to_device(*found, copy->address(), array.bytes()));
  }
  return Array::on_device(array.dtype(), array.shape(), std::move(copy));
}

Result<Array> System::to_host(const Array& array) {
  if (!array.is_on_device()) {
    return array;
  }
  TESSERA_ASSIGN_OR_RETURN(Array copy, array.to_host());
  ++counts_->copies_to_host;
  counts_->copies_to_host_bytes += copy.size_bytes();
  return copy;
}

void System::trim() {
  for (const std::shared_ptr<DevicePool>& pool : pools_) {
    pool->trim();
  }
  mappings_->trim();
}

TransportCounters System::counters() const {
  TransportCounters counters = counts_->read();
  for (const DevicePool::Stats& stats : pool_stats()) {
    counters.handles_taken += stats.handles_taken;
  }
  return counters;
}

std::vector<DevicePool::Stats> System::pool_stats() const {
  std::vector<DevicePool::Stats> stats;
  stats.reserve(pools_.size());
  for (const std::shared_ptr<DevicePool>& pool : pools_) {
    stats.push_back(pool->stats());
  }
  return stats;
}

}  // namespace tessera
