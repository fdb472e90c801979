#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "c_handles.h"
#include "dlpack_array.h"
#include "tessera/sdk/client_options.h"

namespace {

using tessera::array_of;
using tessera::DType;
using tessera::guarded;
using tessera::require_argument;

bool is_dtype(tessera_dtype dtype) {
  return static_cast<unsigned>(dtype) < tessera::kDTypeCount;
}

}  // namespace

static_assert(static_cast<unsigned>(DType::kFloat16) == TESSERA_DTYPE_FLOAT16);
static_assert(static_cast<unsigned>(DType::kFloat32) == TESSERA_DTYPE_FLOAT32);
static_assert(static_cast<unsigned>(DType::kFloat64) == TESSERA_DTYPE_FLOAT64);
static_assert(static_cast<unsigned>(DType::kInt8) == TESSERA_DTYPE_INT8);
static_assert(static_cast<unsigned>(DType::kInt16) == TESSERA_DTYPE_INT16);
static_assert(static_cast<unsigned>(DType::kInt32) == TESSERA_DTYPE_INT32);
static_assert(static_cast<unsigned>(DType::kInt64) == TESSERA_DTYPE_INT64);
static_assert(static_cast<unsigned>(DType::kBool) == TESSERA_DTYPE_BOOL);
static_assert(static_cast<unsigned>(DType::kUInt8) == TESSERA_DTYPE_UINT8);
static_assert(static_cast<unsigned>(DType::kUInt16) == TESSERA_DTYPE_UINT16);
static_assert(static_cast<unsigned>(DType::kUInt32) == TESSERA_DTYPE_UINT32);
static_assert(static_cast<unsigned>(DType::kUInt64) == TESSERA_DTYPE_UINT64);
static_assert(static_cast<unsigned>(DType::kComplex64) == TESSERA_DTYPE_COMPLEX64);
static_assert(static_cast<unsigned>(DType::kComplex128) == TESSERA_DTYPE_COMPLEX128);

const char* tessera_dtype_name(tessera_dtype dtype) {
  // The names are literals.
  return is_dtype(dtype) ? tessera::name_of(static_cast<DType>(dtype)).data() : nullptr;
}

size_t tessera_dtype_size_bytes(tessera_dtype dtype) {
  return is_dtype(dtype) ? tessera::item_size_bytes(static_cast<DType>(dtype)) : 0;
}

tessera_status tessera_array_copy_from(tessera_dtype dtype, size_t rank, const int64_t* shape, const void* elements,
                                       tessera_array** array, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(array, "array");
    if (!is_dtype(dtype)) {
      throw std::invalid_argument("there is no dtype " + std::to_string(static_cast<unsigned>(dtype)));
    }
    if (rank > tessera::kMaxRank) {
      throw std::invalid_argument("an array has at most " + std::to_string(tessera::kMaxRank) + " axes, not " +
                                  std::to_string(rank));
    }
    if (rank != 0) {
      require_argument(shape, "shape");
    }
    tessera::Array copy = tessera::Array::allocate(static_cast<DType>(dtype), tessera::Shape(shape, shape + rank));
    if (const std::span<std::byte> target = copy.mutable_bytes(); !target.empty()) {
      require_argument(elements, "elements");
      std::memcpy(target.data(), elements, target.size());
      if (copy.dtype() == DType::kBool) {
        std::ranges::transform(target, target.begin(), [](std::byte flag) { return std::byte{flag != std::byte{0}}; });
      }
    }
    *array = tessera::new_handle(std::move(copy));
  });
}

tessera_status tessera_array_from_dlpack(DLManagedTensor* tensor, tessera_array** array, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(array, "array");
    // Made before the tensor is taken: nothing may fail after that.
    auto handle = std::make_unique<tessera::Array>();
    *handle = tessera::unwrapped(tessera::array_from_dlpack(tensor));
    *array = reinterpret_cast<tessera_array*>(handle.release());
  });
}

tessera_status tessera_array_to_dlpack(const tessera_array* array, DLManagedTensor** tensor, tessera_error** error) {
  return guarded(error, [&] {
    require_argument(array, "array");
    require_argument(tensor, "tensor");
    *tensor = tessera::unwrapped(tessera::dlpack_from_array(*array_of(array)));
  });
}

tessera_array* tessera_array_new_copy(const tessera_array* array) {
  return tessera::guarded_or_nothing(
      [&] { return array == nullptr ? nullptr : tessera::new_handle(*array_of(array)); });
}

tessera_dtype tessera_array_dtype(const tessera_array* array) {
  return static_cast<tessera_dtype>(array_of(array)->dtype());
}

size_t tessera_array_rank(const tessera_array* array) {
  return array_of(array)->rank();
}

const int64_t* tessera_array_shape(const tessera_array* array) {
  return array_of(array)->shape().data();
}

size_t tessera_array_size_bytes(const tessera_array* array) {
  return array_of(array)->size_bytes();
}

bool tessera_array_is_on_device(const tessera_array* array) {
  return array_of(array)->is_on_device();
}

int32_t tessera_array_device_ordinal(const tessera_array* array) {
  int32_t ordinal = -1;
  static_cast<void>(guarded(nullptr, [&] {
    if (array_of(array)->is_on_device()) {
      // It was made by these.
      const auto gpu = tessera::shared_gpus()->find(array_of(array)->device()->gpu());
      ordinal = gpu == nullptr ? -1 : gpu->ordinal();
    }
  }));
  return ordinal;
}

const void* tessera_array_data(const tessera_array* array) {
  const tessera::Array& whole = *array_of(array);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a CUdeviceptr of the same size
  return whole.is_on_device() ? reinterpret_cast<const void*>(whole.device()->address()) : whole.bytes().data();
}

tessera_status tessera_array_copy_to_host(const tessera_array* array, void* target, size_t size_bytes,
                                          tessera_error** error) {
  return guarded(error, [&] {
    require_argument(array, "array");
    const tessera::Array& whole = *array_of(array);
    if (size_bytes < whole.size_bytes()) {
      throw std::invalid_argument("the array has " + std::to_string(whole.size_bytes()) + " bytes, the target only " +
                                  std::to_string(size_bytes));
    }
    if (whole.size_bytes() == 0) {
      return;
    }
    require_argument(target, "target");
    if (whole.is_on_device()) {
      tessera::unwrapped(whole.device()->copy_to_host({static_cast<std::byte*>(target), whole.size_bytes()}));
    } else {
      std::memcpy(target, whole.bytes().data(), whole.size_bytes());
    }
  });
}

void tessera_array_release(tessera_array* array) {
  delete array_of(array);
}
