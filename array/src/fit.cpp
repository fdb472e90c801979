#include "tessera/array/fit.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "uncast.h"

namespace tessera {
namespace {

// Repeats what stands in the first `block_size` bytes until `into` is full. Copies from what was written already, in
// ever larger pieces, but none that would not stay in the caches.
void repeat(std::span<std::byte> into, std::size_t block_size) {
  constexpr std::size_t kMaxPieceBytes = std::size_t{128} << 10;
  const std::size_t max_piece = std::max(block_size, kMaxPieceBytes / block_size * block_size);
  for (std::size_t done = block_size; done < into.size();) {
    const std::size_t piece = std::min({done, max_piece, into.size() - done});
    std::memcpy(into.data() + done, into.data(), piece);
    done += piece;
  }
}

// One axis after the other, from the slowest: what is repeated is filled once, then copied.
class Broadcaster {
 public:
  Broadcaster(const Array& from, Array& to)
      : from_shape_(from.shape()), to_shape_(to.shape()), item_size_(item_size_bytes(from.dtype())) {
    // Axes at the end that are not stretched are one run of bytes.
    run_axis_ = to_shape_.size();
    run_bytes_ = item_size_;
    while (run_axis_ > 0 && from_shape_[run_axis_ - 1] == to_shape_[run_axis_ - 1]) {
      --run_axis_;
      run_bytes_ *= static_cast<std::size_t>(to_shape_[run_axis_]);
    }
    next_ = from.bytes().data();
  }

  void fill(std::size_t axis, std::span<std::byte> into) {
    if (axis == run_axis_) {
      std::memcpy(into.data(), next_, run_bytes_);
      next_ += run_bytes_;
      return;
    }
    const std::size_t block_size = into.size() / static_cast<std::size_t>(to_shape_[axis]);
    if (from_shape_[axis] == to_shape_[axis]) {
      for (std::size_t done = 0; done < into.size(); done += block_size) {
        fill(axis + 1, into.subspan(done, block_size));
      }
    } else {
      fill(axis + 1, into.first(block_size));
      repeat(into, block_size);
    }
  }

 private:
  const Shape& from_shape_;
  const Shape& to_shape_;
  std::size_t item_size_;
  std::size_t run_axis_ = 0;
  std::size_t run_bytes_ = 0;
  const std::byte* next_ = nullptr;
};

// The shape that the array gets, free axes as they are; nothing if it cannot have it.
struct ShapeFit {
  Shape shape;
  bool is_possible = true;
};

ShapeFit fit_shape(const Shape& actual, const Shape& declared) {
  ShapeFit result{declared, true};
  for (std::size_t axis = 0; axis < actual.size(); ++axis) {
    if (declared[axis] == kFreeAxis) {
      result.shape[axis] = actual[axis];
    } else if (actual[axis] != declared[axis] && actual[axis] != 1) {
      result.is_possible = false;
    }
  }
  return result;
}

ArrayFault shape_fault(ArrayFault::Kind kind, const Shape& actual, const Shape& expected) {
  ArrayFault fault;
  fault.kind = kind;
  fault.actual_shape = actual;
  fault.expected_shape = expected;
  return fault;
}

}  // namespace

Array broadcast(const Array& array, const Shape& shape) {
  if (array.shape() == shape) {
    return array;
  }
  if (!array.has_data()) {
    return Array::shape_only(array.dtype(), shape);
  }
  Array result = Array::allocate(array.dtype(), shape);
  if (result.size() > 0) {
    Broadcaster(array, result).fill(0, result.mutable_bytes());
  }
  return result;
}

std::variant<Array, ArrayFault> fit(Array array, const ArraySpec& spec) {
  if (array.is_on_device()) {
    if (auto misfit = find_uncast_misfit(array.dtype(), array.shape(), spec, "arrays in GPU memory are not cast")) {
      return *std::move(misfit);
    }
    return array;
  }
  Shape shape = array.shape();
  if (spec.shape) {
    if (spec.shape->size() != array.rank()) {
      return shape_fault(ArrayFault::Kind::kDimensionality, array.shape(), *spec.shape);
    }
    ShapeFit fitted = fit_shape(array.shape(), *spec.shape);
    if (!fitted.is_possible) {
      return shape_fault(ArrayFault::Kind::kShape, array.shape(), fitted.shape);
    }
    shape = std::move(fitted.shape);
  }
  if (spec.dtype && *spec.dtype != array.dtype()) {
    const DType to = *spec.dtype;
    if (is_castable(array.dtype(), to) && element_count(shape) == 0 && array.has_data()) {
      // One element that is stretched to none is not looked at.
      return Array::allocate(to, std::move(shape));
    }
    auto converted = cast(std::move(array), to);
    if (std::holds_alternative<ArrayFault>(converted)) {
      return converted;
    }
    array = std::get<Array>(std::move(converted));
  }
  return array.shape() == shape ? std::move(array) : broadcast(array, shape);
}

}  // namespace tessera
