#include "tessera/array/array.h"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace tessera {
namespace {

std::string text_of(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) {
      text += ',';
    }
    text += std::to_string(size);
  }
  return text + "]";
}

std::string describe(DType dtype, const Shape& shape) {
  return "array of " + std::string(name_of(dtype)) + " and shape " + text_of(shape);
}

struct Sizes {
  std::int64_t elements = 0;
  std::size_t bytes = 0;
};

Sizes sizes_of(DType dtype, const Shape& shape) {
  const auto elements = element_count(shape);
  const auto bytes = byte_count(shape, dtype);
  constexpr auto kMaxBytes = static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (!elements || !bytes || *bytes > kMaxBytes) {
    throw std::invalid_argument(describe(dtype, shape) +
                                " cannot be held: a size is negative, or their product too large");
  }
  return {*elements, static_cast<std::size_t>(*bytes)};
}

}  // namespace

Array::Array() : shape_{0} {}

Array Array::allocate(DType dtype, Shape shape) {
  const Sizes sizes = sizes_of(dtype, shape);
  return {dtype, true, std::move(shape), sizes.elements, Buffer::allocate(sizes.bytes)};
}

Array Array::zeros(DType dtype, Shape shape) {
  Array array = allocate(dtype, std::move(shape));
  if (const auto bytes = array.mutable_bytes(); !bytes.empty()) {
    std::memset(bytes.data(), 0, bytes.size());
  }
  return array;
}

Array Array::wrap(DType dtype, Shape shape, Buffer buffer) {
  const Sizes sizes = sizes_of(dtype, shape);
  if (buffer.size_bytes() < sizes.bytes) {
    throw std::invalid_argument(describe(dtype, shape) + " needs " + std::to_string(sizes.bytes) +
                                " bytes, buffer has " + std::to_string(buffer.size_bytes()));
  }
  return {dtype, true, std::move(shape), sizes.elements, std::move(buffer)};
}

Array Array::on_device(DType dtype, Shape shape, std::shared_ptr<const DeviceBlock> block) {
  const Sizes sizes = sizes_of(dtype, shape);
  if (!block || block->size_bytes() < sizes.bytes) {
    throw std::invalid_argument(describe(dtype, shape) + " needs " + std::to_string(sizes.bytes) +
                                " bytes, the memory on the GPU has " + std::to_string(block ? block->size_bytes() : 0));
  }
  Array array(dtype, true, std::move(shape), sizes.elements, Buffer());
  array.device_ = std::move(block);
  return array;
}

Array Array::shape_only(DType dtype, Shape shape) {
  for (const std::int64_t size : shape) {
    if (size < 0) {
      throw std::invalid_argument(describe(dtype, shape) + " has a negative size");
    }
  }
  const std::int64_t size = element_count(shape).value_or(std::numeric_limits<std::int64_t>::max());
  return {dtype, false, std::move(shape), size, Buffer()};
}

Result<Array> Array::to_host() const {
  if (!is_on_device()) {
    return *this;
  }
  Array copy = allocate(dtype_, shape_);
  TESSERA_RETURN_IF_ERROR(device_->copy_to_host(copy.mutable_bytes()));
  return copy;
}

std::span<std::byte> Array::mutable_bytes() {
  if (!is_on_host()) {
    return {};
  }
  if (!buffer_.is_unique()) {
    Buffer copy = Buffer::allocate(size_bytes());
    if (const auto from = bytes(); !from.empty()) {
      std::memcpy(copy.data(), from.data(), from.size());
    }
    buffer_ = std::move(copy);
  }
  return {buffer_.data(), size_bytes()};
}

Array Array::reshaped(Shape shape) const {
  const auto count = element_count(shape);
  if (!has_data_ || !count || *count != size_) {
    throw std::invalid_argument(describe(dtype_, shape_) + (has_data_ ? "" : " without data") +
                                " cannot be reshaped to " + text_of(shape));
  }
  Array array = *this;
  array.shape_ = std::move(shape);
  return array;
}

void Array::fill_from(std::span<const std::byte> bytes) {
  if (bytes.size() != size_bytes()) {
    throw std::invalid_argument(describe(dtype_, shape_) + " has " + std::to_string(size_) + " elements, got " +
                                std::to_string(bytes.size() / item_size_bytes(dtype_)));
  }
  if (!bytes.empty()) {
    std::memcpy(buffer_.data(), bytes.data(), bytes.size());
  }
}

void Array::require(DType dtype) const {
  if (dtype != dtype_) {
    throw std::invalid_argument(describe(dtype_, shape_) + " was read as " + std::string(name_of(dtype)));
  }
  if (!has_data_) {
    throw std::invalid_argument(describe(dtype_, shape_) + " has no data, only its shape");
  }
  if (is_on_device()) {
    throw std::invalid_argument(describe(dtype_, shape_) + " is in GPU memory; to_host() copies it");
  }
}

void Array::require_single() const {
  if (size_ != 1) {
    throw std::invalid_argument(describe(dtype_, shape_) + " has " + std::to_string(size_) + " elements, not one");
  }
}

}  // namespace tessera
