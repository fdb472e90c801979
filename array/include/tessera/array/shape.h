// Sizes of arrays, and what a field declares about them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/array/dtype.h"

namespace tessera {

/// The sizes of an array's axes, the slowest first; empty for a single element.
using Shape = std::vector<std::int64_t>;

/// The most axes that NumPy's arrays have, and so ours from outside.
inline constexpr std::size_t kMaxRank = 64;

/// In a declared shape: an axis of any size.
inline constexpr std::int64_t kFreeAxis = -1;

/// The number of elements, or nothing if a size is negative, or the product of the sizes other than zero does not fit
/// (so the order of axes does not matter). Safe to call from any thread, like the next.
[[nodiscard]] std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);
/// The number of bytes of an array, or nothing under the same conditions.
[[nodiscard]] std::optional<std::uint64_t> byte_count(std::span<const std::int64_t> shape, DType dtype);

/// What a field declares of its arrays (PROTOCOL.md section 6.2). A plain value.
struct ArraySpec {
  std::optional<DType> dtype;  ///< any, kept as it comes, if absent
  std::optional<Shape> shape;  ///< any rank if absent; kFreeAxis for an axis of any size
};

}  // namespace tessera
