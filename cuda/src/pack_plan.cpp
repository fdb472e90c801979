#include "pack_plan.h"

#include <algorithm>
#include <limits>

#include "tessera/base/checked_math.h"

namespace tessera {
namespace {

// CU_DEVICE_ATTRIBUTE_MAX_PITCH of every GPU so far.
constexpr std::int64_t kMaxPitchBytes = std::numeric_limits<std::int32_t>::max();

Error misfit(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "cannot pack a strided array: " + what};
}

// Whether every element's offset from the first one fits 64 bits.
bool do_offsets_fit(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides_bytes) {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  for (std::size_t i = 0; i != shape.size(); ++i) {
    const auto last = checked_multiply(strides_bytes[i], shape[i] - 1);
    if (!last) {
      return false;
    }
    std::int64_t& end = *last < 0 ? lowest : highest;
    const auto sum = checked_add(end, *last);
    if (!sum) {
      return false;
    }
    end = *sum;
  }
  return true;
}

}  // namespace

Result<PackPlan> PackPlan::make(std::size_t item_size_bytes, std::span<const std::int64_t> shape,
                                std::span<const std::int64_t> strides_bytes) {
  if (strides_bytes.size() != shape.size()) {
    return misfit(std::to_string(shape.size()) + " axes have " + std::to_string(strides_bytes.size()) + " strides");
  }
  PackPlan plan;
  if (std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; })) {
    return misfit("an axis has a negative size");
  }
  if (item_size_bytes == 0 || std::ranges::find(shape, 0) != shape.end()) {
    plan.is_empty_ = true;
    return plan;
  }
  if (item_size_bytes > static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()) ||
      !do_offsets_fit(shape, strides_bytes)) {
    return misfit("its strides do not fit 64 bits");
  }
  auto target_stride = static_cast<std::int64_t>(item_size_bytes);
  // From the inside out, each axis joins the one before it if both are steps of one longer axis.
  for (std::size_t i = shape.size(); i-- > 0;) {
    const std::int64_t outer_stride = target_stride;
    const auto product = checked_multiply(target_stride, shape[i]);
    if (!product) {
      return misfit("its elements do not fit 64 bits");
    }
    target_stride = *product;
    if (shape[i] == 1) {
      continue;
    }
    if (!plan.axes_.empty()) {
      Axis& inner = plan.axes_.back();
      if (checked_multiply(inner.source_stride_bytes, inner.size) == strides_bytes[i]) {
        inner.size *= shape[i];
        continue;
      }
    }
    plan.axes_.push_back({shape[i], strides_bytes[i], outer_stride});
  }
  plan.rows_.width_bytes = item_size_bytes;
  if (!plan.axes_.empty() && plan.axes_.front().source_stride_bytes == static_cast<std::int64_t>(item_size_bytes)) {
    plan.rows_.width_bytes *= static_cast<std::size_t>(plan.axes_.front().size);
    plan.axes_.erase(plan.axes_.begin());
  }
  std::ranges::reverse(plan.axes_);
  plan.choose_rows();
  return plan;
}

// The longest axis whose steps one copy of rows can take: forward, without rows that overlap.
void PackPlan::choose_rows() {
  const auto width = static_cast<std::int64_t>(rows_.width_bytes);
  for (std::size_t i = 0; i != axes_.size(); ++i) {
    const Axis& axis = axes_[i];
    const bool is_pitch = axis.source_stride_bytes >= width && axis.source_stride_bytes <= kMaxPitchBytes &&
                          axis.target_stride_bytes <= kMaxPitchBytes;
    if (is_pitch && (!rows_axis_ || axis.size > axes_[*rows_axis_].size)) {
      rows_axis_ = i;
    }
  }
  if (rows_axis_) {
    const Axis& axis = axes_[*rows_axis_];
    rows_.height = static_cast<std::size_t>(axis.size);
    rows_.source_pitch_bytes = static_cast<std::size_t>(axis.source_stride_bytes);
    rows_.target_pitch_bytes = static_cast<std::size_t>(axis.target_stride_bytes);
  }
}

Status PackPlan::for_each(const std::function<Status(const RowCopy&)>& copy) const {
  return is_empty_ ? Status() : copy_axis(0, rows_, copy);
}

Status PackPlan::copy_axis(std::size_t axis, RowCopy at, const std::function<Status(const RowCopy&)>& copy) const {
  if (axis == axes_.size()) {
    return copy(at);
  }
  if (axis == rows_axis_) {
    return copy_axis(axis + 1, at, copy);
  }
  const Axis& steps = axes_[axis];
  if (steps.source_stride_bytes == 0) {
    TESSERA_RETURN_IF_ERROR(copy_axis(axis + 1, at, copy));
    return repeat(axis, at, copy);
  }
  for (std::int64_t i = 0; i != steps.size; ++i) {
    RowCopy step = at;
    step.source_offset_bytes += i * steps.source_stride_bytes;
    step.target_offset_bytes += i * steps.target_stride_bytes;
    TESSERA_RETURN_IF_ERROR(copy_axis(axis + 1, step, copy));
  }
  return {};
}

// The first step of the axis is in the target: doubles it until all steps are, in every row if the rows are outside.
Status PackPlan::repeat(std::size_t axis, const RowCopy& at, const std::function<Status(const RowCopy&)>& copy) const {
  const Axis& steps = axes_[axis];
  RowCopy repeated = at;
  repeated.is_within_target = true;
  repeated.source_offset_bytes = at.target_offset_bytes;
  if (rows_axis_ && *rows_axis_ < axis) {
    repeated.source_pitch_bytes = at.target_pitch_bytes;
  } else {
    repeated.height = 1;
    repeated.source_pitch_bytes = 0;
    repeated.target_pitch_bytes = 0;
  }
  for (std::int64_t done = 1; done < steps.size;) {
    const std::int64_t count = std::min(done, steps.size - done);
    repeated.target_offset_bytes = at.target_offset_bytes + done * steps.target_stride_bytes;
    repeated.width_bytes = static_cast<std::size_t>(count * steps.target_stride_bytes);
    TESSERA_RETURN_IF_ERROR(copy(repeated));
    done += count;
  }
  return {};
}

}  // namespace tessera
