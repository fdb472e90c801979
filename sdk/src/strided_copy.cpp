#include "strided_copy.h"

#include <algorithm>
#include <cstring>

namespace tessera {
namespace {

// Copies one row of elements of a size that the compiler knows.
template <std::size_t kItemBytes>
void copy_row(std::byte* target, const std::byte* source, std::int64_t count, std::int64_t stride_bytes) {
  for (std::int64_t i = 0; i != count; ++i) {
    std::memcpy(target + static_cast<std::size_t>(i) * kItemBytes, source + i * stride_bytes, kItemBytes);
  }
}

using RowCopy = void (*)(std::byte*, const std::byte*, std::int64_t, std::int64_t);

RowCopy row_copy_of(std::size_t item_size_bytes) {
  switch (item_size_bytes) {
    case 1:
      return copy_row<1>;
    case 2:
      return copy_row<2>;
    case 4:
      return copy_row<4>;
    case 8:
      return copy_row<8>;
    default:
      return copy_row<16>;
  }
}

}  // namespace

std::vector<std::int64_t> c_order_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t axis = shape.size(); axis-- != 0;) {
    strides[axis] = stride;
    // A product of sizes beside a zero need not fit, and no element is found by it.
    if (__builtin_mul_overflow(stride, std::max(shape[axis], std::int64_t{1}), &stride)) {
      stride = 1;
    }
  }
  return strides;
}

bool is_c_order(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides_bytes,
                std::size_t item_size_bytes) {
  const std::vector<std::int64_t> expected = c_order_strides(shape);
  for (std::size_t axis = 0; axis != shape.size(); ++axis) {
    if (shape[axis] != 1 && strides_bytes[axis] != expected[axis] * static_cast<std::int64_t>(item_size_bytes)) {
      return false;
    }
  }
  return true;
}

void copy_to_c_order(std::byte* target, const std::byte* source, std::size_t item_size_bytes,
                     std::span<const std::int64_t> shape, std::span<const std::int64_t> strides_bytes) {
  const RowCopy copy = row_copy_of(item_size_bytes);
  if (shape.empty()) {
    copy(target, source, 1, 0);
    return;
  }
  const std::int64_t row_length = shape.back();
  const std::size_t row_bytes = static_cast<std::size_t>(row_length) * item_size_bytes;
  const std::size_t outer_axes = shape.size() - 1;
  std::vector<std::int64_t> index(outer_axes);
  // Counts the rows like a mileage counter: the last axis but one turns fastest.
  for (bool is_more = true; is_more;) {
    copy(target, source, row_length, strides_bytes.back());
    target += row_bytes;
    is_more = false;
    for (std::size_t axis = outer_axes; axis-- != 0;) {
      if (++index[axis] != shape[axis]) {
        source += strides_bytes[axis];
        is_more = true;
        break;
      }
      source -= strides_bytes[axis] * (shape[axis] - 1);
      index[axis] = 0;
    }
  }
}

}  // namespace tessera
