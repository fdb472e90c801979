// Elements with strides, and those in C order. Functions of their arguments alone, safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/array/shape.h"

namespace tessera {

/// In elements. Requires: a shape without zeros and negative sizes whose product fits, or any with zeros.
[[nodiscard]] std::vector<std::int64_t> c_order_strides(std::span<const std::int64_t> shape);
/// Whether elements with these strides lie in C order without gaps. Axes of one element may have any stride.
/// Requires: as many strides as sizes.
[[nodiscard]] bool is_c_order(std::span<const std::int64_t> shape, std::span<const std::int64_t> strides_bytes,
                              std::size_t item_size_bytes);
/// Copies elements into C order. Strides may be negative or zero; `source` is the first element, of any alignment.
/// Requires: at least one element, of 1, 2, 4, 8 or 16 bytes; as many strides as sizes.
void copy_to_c_order(std::byte* target, const std::byte* source, std::size_t item_size_bytes,
                     std::span<const std::int64_t> shape, std::span<const std::int64_t> strides_bytes);

}  // namespace tessera
