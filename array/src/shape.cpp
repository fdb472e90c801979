#include "tessera/array/shape.h"

#include "tessera/base/checked_math.h"

namespace tessera {

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  // The product without its zeros must fit too, so that the answer does not depend on the order of the axes.
  std::int64_t product = 1;
  bool is_empty = false;
  for (const std::int64_t size : shape) {
    if (size < 0) {
      return std::nullopt;
    }
    if (size == 0) {
      is_empty = true;
      continue;
    }
    const auto next = checked_multiply(product, size);
    if (!next) {
      return std::nullopt;
    }
    product = *next;
  }
  return is_empty ? 0 : product;
}

std::optional<std::uint64_t> byte_count(std::span<const std::int64_t> shape, DType dtype) {
  const auto count = element_count(shape);
  if (!count) {
    return std::nullopt;
  }
  return checked_multiply(static_cast<std::uint64_t>(*count), static_cast<std::uint64_t>(item_size_bytes(dtype)));
}

}  // namespace tessera
