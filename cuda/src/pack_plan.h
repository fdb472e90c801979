// A strided array as the few copies that put it into C order. Knows no CUDA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/result.h"

namespace tessera {

/// `height` rows of `width_bytes`, whose starts are a pitch apart. A plain value.
struct RowCopy {
  std::int64_t target_offset_bytes = 0;
  std::int64_t source_offset_bytes = 0;  ///< from the array's first element; may be negative
  std::size_t width_bytes = 0;
  std::size_t height = 1;
  std::size_t target_pitch_bytes = 0;
  std::size_t source_pitch_bytes = 0;
  bool is_within_target = false;  ///< the source is the target: what earlier copies put there is repeated
};

class PackPlan {
 public:
  /// Errors: kInvalidArgument for negative sizes, other numbers of strides, and offsets that do not fit.
  [[nodiscard]] static Result<PackPlan> make(std::size_t item_size_bytes, std::span<const std::int64_t> shape,
                                             std::span<const std::int64_t> strides_bytes);

  /// Calls `copy` for each, in order; ends with the first error.
  [[nodiscard]] Status for_each(const std::function<Status(const RowCopy&)>& copy) const;

 private:
  struct Axis {
    std::int64_t size;
    std::int64_t source_stride_bytes;
    std::int64_t target_stride_bytes;
  };

  void choose_rows();
  [[nodiscard]] Status copy_axis(std::size_t axis, RowCopy at, const std::function<Status(const RowCopy&)>& copy) const;
  [[nodiscard]] Status repeat(std::size_t axis, const RowCopy& at,
                              const std::function<Status(const RowCopy&)>& copy) const;

  bool is_empty_ = false;
  std::vector<Axis> axes_;                // without the innermost run of bytes, which is the width of rows_
  std::optional<std::size_t> rows_axis_;  // of axes_: all its steps are in each copy
  RowCopy rows_;
};

}  // namespace tessera
