// An n-dimensional array: element type, shape, and a counted buffer in C order.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tessera/array/buffer.h"
#include "tessera/array/device_array.h"
#include "tessera/array/dtype.h"
#include "tessera/array/shape.h"

namespace tessera {

/// An array in C order, in host memory or on one GPU, or only its shape and dtype (in abstract_eval; PROTOCOL.md
/// sections 4.4 and 5). Copies share the buffer until one of them is written to, so copying costs no element. One
/// thread at a time for one object, but constant members may be called from several at once; copies may go to other
/// threads.
class Array {
 public:
  /// A float64 array of shape (0,).
  Array();

  /// Makes an array whose elements are not initialised. Throws std::invalid_argument for a shape with negative sizes or
  /// too many elements (2^63-1 bytes at most), std::bad_alloc.
  [[nodiscard]] static Array allocate(DType dtype, Shape shape);
  /// Makes an array of zeros. Throws as allocate does.
  [[nodiscard]] static Array zeros(DType dtype, Shape shape);
  /// Makes a one-dimensional array of these elements. Throws std::bad_alloc.
  template <class T>
  [[nodiscard]] static Array of(std::initializer_list<T> elements) {
    return copy_of(std::span<const T>(elements.begin(), elements.size()),
                   Shape{static_cast<std::int64_t>(elements.size())});
  }
  /// Copies elements in C order. Throws std::invalid_argument if their number is not that of the shape, or as
  /// allocate() does.
  template <class T>
  [[nodiscard]] static Array copy_of(std::span<const T> elements, Shape shape) {
    Array array = allocate(kDTypeOf<T>, std::move(shape));
    array.fill_from(std::as_bytes(elements));
    return array;
  }
  /// Makes an array of rank zero.
  template <class T>
  [[nodiscard]] static Array scalar(T element) {
    return copy_of(std::span<const T>(&element, 1), Shape{});
  }
  /// Shares a buffer that holds the elements in C order; it may be larger. Requires: data aligned for the dtype, bools
  /// that are 0 or 1. Throws std::invalid_argument if it is too small, or for a shape as allocate() does.
  [[nodiscard]] static Array wrap(DType dtype, Shape shape, Buffer buffer);
  /// Wraps memory on a GPU that holds the elements in C order; `tessera/ipc/gpu_system.h` makes such arrays. Throws
  /// std::invalid_argument if the block is too small or missing.
  [[nodiscard]] static Array on_device(DType dtype, Shape shape, std::shared_ptr<const DeviceBlock> block);
  /// Makes the form that abstract_eval passes around: no elements. Throws std::invalid_argument for negative sizes;
  /// sizes whose product does not fit are fine, size() is then the largest there is.
  [[nodiscard]] static Array shape_only(DType dtype, Shape shape);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const Shape& shape() const { return shape_; }
  [[nodiscard]] std::size_t rank() const { return shape_.size(); }
  /// The number of elements.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Bytes of the elements; without data those that they would take (wraps above 2^64).
  [[nodiscard]] std::size_t size_bytes() const { return static_cast<std::size_t>(size_) * item_size_bytes(dtype_); }
  /// False for the shapes-only form; then there are no bytes.
  [[nodiscard]] bool has_data() const { return has_data_; }
  /// Whether the elements are in GPU memory; the host reads them through to_host().
  [[nodiscard]] bool is_on_device() const { return device_ != nullptr; }
  /// The memory on the GPU; nullptr for a host array.
  [[nodiscard]] const std::shared_ptr<const DeviceBlock>& device() const { return device_; }
  /// The array in host memory: a copy if it is on a GPU, else itself. Errors: of CUDA. Throws std::bad_alloc.
  [[nodiscard]] Result<Array> to_host() const;

  /// The elements as bytes. Valid until this array is written to, assigned to or destroyed. Empty without data in host
  /// memory.
  [[nodiscard]] std::span<const std::byte> bytes() const { return {buffer_.data(), is_on_host() ? size_bytes() : 0}; }
  /// The elements as bytes to write to; copies them first if the buffer is shared. Empty without data in host memory.
  /// Valid until this array is copied and written to, assigned to or destroyed. Throws std::bad_alloc.
  [[nodiscard]] std::span<std::byte> mutable_bytes();
  /// The elements, valid as bytes() are. Throws std::invalid_argument if T is not of this dtype or there is no data in
  /// host memory.
  template <class T>
  [[nodiscard]] std::span<const T> values() const {
    require(kDTypeOf<T>);
    return {reinterpret_cast<const T*>(buffer_.data()), static_cast<std::size_t>(size_)};
  }
  /// The elements to write to; copies them first if the buffer is shared. Throws as values() and
  /// mutable_bytes() do.
  template <class T>
  [[nodiscard]] std::span<T> mutable_values() {
    require(kDTypeOf<T>);
    return {reinterpret_cast<T*>(mutable_bytes().data()), static_cast<std::size_t>(size_)};
  }
  /// The only element. Throws std::invalid_argument if there is not exactly one, or as values() does.
  template <class T>
  [[nodiscard]] T item() const {
    require_single();
    return values<T>()[0];
  }
  /// The same elements, buffer shared, under another shape of as many. Throws std::invalid_argument otherwise, or
  /// without data.
  [[nodiscard]] Array reshaped(Shape shape) const;
  /// Handle to the elements' memory: may hold more bytes than size_bytes(), empty without data. While a copy of it
  /// lives, the next write to this array copies.
  [[nodiscard]] const Buffer& buffer() const { return buffer_; }

 private:
  Array(DType dtype, bool has_data, Shape shape, std::int64_t size, Buffer buffer)
      : dtype_(dtype), has_data_(has_data), shape_(std::move(shape)), size_(size), buffer_(std::move(buffer)) {}

  [[nodiscard]] bool is_on_host() const { return has_data_ && device_ == nullptr; }
  void fill_from(std::span<const std::byte> bytes);
  void require(DType dtype) const;
  void require_single() const;

  DType dtype_ = DType::kFloat64;
  bool has_data_ = true;
  Shape shape_;
  std::int64_t size_ = 0;
  Buffer buffer_;
  std::shared_ptr<const DeviceBlock> device_;
};

}  // namespace tessera
