#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "system.h"
#include "tessera/base/checked_math.h"

namespace tessera {
namespace {

Error misfit(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "cannot make an array of GPU memory: " + what};
}

// Where an array's bytes lie, from its first element: at `first_bytes` (never positive) and before `end_bytes`.
struct Extent {
  std::int64_t first_bytes = 0;
  std::int64_t end_bytes = 0;
};

std::optional<Extent> extent_of(const Shape& shape, const std::vector<std::int64_t>& strides_bytes,
                                std::int64_t item_size_bytes) {
  Extent extent{0, item_size_bytes};
  for (std::size_t i = 0; i != shape.size(); ++i) {
    const auto last = checked_multiply(strides_bytes[i], shape[i] - 1);
    if (!last) {
      return std::nullopt;
    }
    std::int64_t& end = *last < 0 ? extent.first_bytes : extent.end_bytes;
    const auto sum = checked_add(end, *last);
    if (!sum) {
      return std::nullopt;
    }
    end = *sum;
  }
  return extent;
}

std::vector<std::int64_t> c_order_strides(const Shape& shape, std::int64_t item_size_bytes) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = item_size_bytes;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// The strides of axes with one step say nothing.
bool is_c_order(const Shape& shape, const std::vector<std::int64_t>& strides_bytes,
                const std::vector<std::int64_t>& c_order) {
  for (std::size_t i = 0; i != shape.size(); ++i) {
    if (shape[i] > 1 && strides_bytes[i] != c_order[i]) {
      return false;
    }
  }
  return true;
}

bool is_within(const Extent& extent, std::uint64_t address, const PointerInfo& info) {
  const std::uint64_t before = address - info.range_address;
  const std::uint64_t behind = info.range_bytes - before;
  const std::uint64_t needed_before = 0 - static_cast<std::uint64_t>(extent.first_bytes);
  return address >= info.range_address && before <= info.range_bytes && needed_before <= before &&
         static_cast<std::uint64_t>(extent.end_bytes) <= behind;
}

}  // namespace

Result<Array> System::wrap(DType dtype, Shape shape, ForeignMemory memory) {
  if (gpus_.empty()) {
    return Error(ErrorCode::kUnavailable, problem_ ? problem_->sentence : "no GPU is visible");
  }
  const std::optional<std::uint64_t> size_bytes = byte_count(shape, dtype);
  if (!size_bytes) {
    return misfit("the shape has negative sizes or too many elements");
  }
  if (!memory.strides_bytes.empty() && memory.strides_bytes.size() != shape.size()) {
    return misfit(std::to_string(shape.size()) + " axes have " + std::to_string(memory.strides_bytes.size()) +
                  " strides");
  }
  TESSERA_ASSIGN_OR_RETURN(const std::optional<PointerInfo> info, query_pointer(*driver_, memory.address));
  const auto gpu = std::ranges::find_if(
      gpus_, [&info](const auto& candidate) { return info && candidate->ordinal() == info->ordinal; });
  if (*size_bytes == 0) {
    // Memory without elements may have no address.
    return Array::on_device(dtype, std::move(shape),
                            std::make_shared<EmptyBlock>(gpu == gpus_.end() ? gpus_.front() : *gpu));
  }
  if (!info || !info->is_device_memory || gpu == gpus_.end()) {
    return misfit("the driver does not know the address as memory of a GPU");
  }
  const auto item_bytes = static_cast<std::int64_t>(item_size_bytes(dtype));
  const std::vector<std::int64_t> c_order = c_order_strides(shape, item_bytes);
  if (memory.strides_bytes.empty()) {
    memory.strides_bytes = c_order;
  }
  const std::optional<Extent> extent = extent_of(shape, memory.strides_bytes, item_bytes);
  if (!extent || !is_within(*extent, memory.address, *info)) {
    return misfit("the elements do not lie within the allocation, which has " + std::to_string(info->range_bytes) +
                  " bytes");
  }
  std::shared_ptr<const LocalBlock> block;
  if (is_c_order(shape, memory.strides_bytes, c_order)) {
    block = std::make_shared<ForeignBlock>(*gpu, memory.address, static_cast<std::size_t>(*size_bytes), *info,
                                           std::move(memory.owner), memory.stream, counts_, closer_);
  } else {
    TESSERA_ASSIGN_OR_RETURN(block,
                             pack(*gpu, static_cast<std::size_t>(*size_bytes), item_size_bytes(dtype), shape, memory));
  }
  return Array::on_device(dtype, std::move(shape), std::move(block));
}

Result<std::shared_ptr<const LocalBlock>> System::pack(const std::shared_ptr<const Gpu>& gpu, std::size_t size_bytes,
                                                       std::size_t item_size_bytes, const Shape& shape,
                                                       const ForeignMemory& memory) {
  TESSERA_ASSIGN_OR_RETURN(std::shared_ptr<const LocalBlock> block, allocate_block(gpu, size_bytes));
  TESSERA_RETURN_IF_ERROR(gpu->synchronize(memory.stream));
  TESSERA_RETURN_IF_ERROR(
      pack_on_device(*gpu, block->address(), memory.address, item_size_bytes, shape, memory.strides_bytes));
  return block;
}

}  // namespace tessera
