#include "dlpack_array.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "strided_copy.h"
#include "tessera/base/checked_math.h"
#include "tessera/sdk/client_options.h"

namespace tessera {
namespace {

Error dlpack_error(std::string text) {
  return {ErrorCode::kInvalidArgument, "dlpack: " + std::move(text)};
}

DLDataType dlpack_type_of(DType dtype) {
  const auto code = [dtype] {
    switch (kind_of(dtype)) {
      case DTypeKind::kFloat:
        return kDLFloat;
      case DTypeKind::kSigned:
        return kDLInt;
      case DTypeKind::kUnsigned:
        return kDLUInt;
      case DTypeKind::kBool:
        return kDLBool;
      case DTypeKind::kComplex:
        break;
    }
    return kDLComplex;
  }();
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(item_size_bytes(dtype) * 8), 1};
}

std::optional<DType> find_dtype_of(const DLDataType& type) {
  const auto is_type = [&type](DType dtype) {
    const DLDataType candidate = dlpack_type_of(dtype);
    return candidate.code == type.code && candidate.bits == type.bits && type.lanes == 1;
  };
  const auto* const found = std::ranges::find_if(all_dtypes(), is_type);
  return found == all_dtypes().end() ? std::nullopt : std::optional(*found);
}

std::string words_for(const DLDataType& type) {
  constexpr const char* kNames[] = {"int", "uint", "float", "opaque handle", "bfloat", "complex", "bool"};
  const std::string name = type.code < std::size(kNames) ? kNames[type.code] : "type " + std::to_string(type.code);
  return name + " of " + std::to_string(type.bits) + " bits" +
         (type.lanes == 1 ? "" : " in " + std::to_string(type.lanes) + " lanes");
}

// Calls the deleter in the end, once it has been told whose.
struct TensorOwner {
  TensorOwner() = default;
  TensorOwner(const TensorOwner&) = delete;
  TensorOwner& operator=(const TensorOwner&) = delete;
  ~TensorOwner() {
    if (tensor != nullptr && tensor->deleter != nullptr) {
      tensor->deleter(tensor);
    }
  }
  DLManagedTensor* tensor = nullptr;
};

// What a tensor says, checked. A plain value.
struct Layout {
  DType dtype = DType::kFloat64;
  Shape shape;
  std::vector<std::int64_t> strides_bytes;
  std::byte* data = nullptr;  // the first element, on whatever device
  std::size_t size_bytes = 0;
  bool is_c_order = true;
};

// In bytes; 0 where there is one element, whose stride may be anything.
Result<std::vector<std::int64_t>> strides_of(const DLTensor& tensor, std::int64_t item_size_bytes) {
  std::vector<std::int64_t> strides(static_cast<std::size_t>(tensor.ndim));
  // How far the elements reach below and above the first one.
  std::int64_t below = 0;
  std::int64_t above = 0;
  for (std::size_t axis = 0; axis != strides.size(); ++axis) {
    const std::int64_t steps = tensor.shape[axis] - 1;
    if (steps == 0) {
      continue;
    }
    const auto stride = checked_multiply(tensor.strides[axis], item_size_bytes);
    const auto length = stride ? checked_multiply(*stride, steps) : std::nullopt;
    std::int64_t& reach = length && *length < 0 ? below : above;
    const auto sum = length ? checked_add(reach, *length) : std::nullopt;
    if (!sum) {
      return dlpack_error("the strides reach further than an address can");
    }
    strides[axis] = *stride;
    reach = *sum;
  }
  return strides;
}

Result<Layout> layout_of(const DLTensor& tensor) {
  const std::optional<DType> dtype = find_dtype_of(tensor.dtype);
  if (!dtype) {
    return dlpack_error("elements of type " + words_for(tensor.dtype) + " have no counterpart in tessera");
  }
  if (tensor.ndim < 0 || tensor.ndim > static_cast<std::int32_t>(kMaxRank)) {
    return dlpack_error("an array has 0 to " + std::to_string(kMaxRank) + " axes, not " + std::to_string(tensor.ndim));
  }
  if (tensor.ndim != 0 && tensor.shape == nullptr) {
    return dlpack_error("there is no shape for " + std::to_string(tensor.ndim) + " axes");
  }
  Layout layout;
  layout.dtype = *dtype;
  layout.shape.assign(tensor.shape, tensor.shape + tensor.ndim);
  const auto size_bytes = byte_count(layout.shape, *dtype);
  if (!size_bytes || *size_bytes > std::uint64_t{PTRDIFF_MAX}) {
    return dlpack_error("a size is negative, or their product too large");
  }
  layout.size_bytes = static_cast<std::size_t>(*size_bytes);
  if (layout.size_bytes == 0) {
    return layout;
  }
  if (tensor.data == nullptr) {
    return dlpack_error("there is no data for " + std::to_string(*size_bytes) + " bytes of elements");
  }
  layout.data = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  if (tensor.strides != nullptr) {
    const std::size_t item = item_size_bytes(*dtype);
    TESSERA_ASSIGN_OR_RETURN(layout.strides_bytes, strides_of(tensor, static_cast<std::int64_t>(item)));
    layout.is_c_order = is_c_order(layout.shape, layout.strides_bytes, item);
  }
  return layout;
}

Array host_array(const Layout& layout, const std::shared_ptr<TensorOwner>& owner) {
  const std::size_t item = item_size_bytes(layout.dtype);
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(layout.data) % item == 0;
  if (layout.size_bytes != 0 && layout.is_c_order && is_aligned && layout.dtype != DType::kBool) {
    return Array::wrap(layout.dtype, layout.shape, Buffer::adopt(owner, layout.data, layout.size_bytes));
  }
  Array array = Array::allocate(layout.dtype, layout.shape);
  const std::span<std::byte> target = array.mutable_bytes();
  if (target.empty()) {
    return array;
  }
  if (layout.is_c_order) {
    std::memcpy(target.data(), layout.data, target.size());
  } else {
    copy_to_c_order(target.data(), layout.data, item, layout.shape, layout.strides_bytes);
  }
  if (layout.dtype == DType::kBool) {
    std::ranges::transform(target, target.begin(), [](std::byte flag) { return std::byte{flag != std::byte{0}}; });
  }
  return array;
}

Result<Array> device_array(const Layout& layout, std::int32_t ordinal, const std::shared_ptr<TensorOwner>& owner,
                           GpuSystem& gpus, void* stream) {
  const auto gpu = std::ranges::find_if(gpus.gpus(), [ordinal](const auto& one) { return one->ordinal() == ordinal; });
  if (gpu == gpus.gpus().end()) {
    const std::optional<TransportProblem>& problem = gpus.problem();
    return dlpack_error("this process has no GPU " + std::to_string(ordinal) +
                        (problem ? ": " + text_of(*problem) : ""));
  }
  const Uuid& uuid = (*gpu)->uuid();
  if (layout.size_bytes == 0) {
    return gpus.allocate(uuid, layout.dtype, layout.shape);
  }
  ForeignMemory memory{
      .address = reinterpret_cast<std::uintptr_t>(layout.data), .owner = owner, .stream = stream, .strides_bytes = {}};
  if (!layout.is_c_order) {
    memory.strides_bytes = layout.strides_bytes;
  }
  TESSERA_ASSIGN_OR_RETURN(Array array, gpus.wrap(layout.dtype, layout.shape, std::move(memory)));
  if (array.device()->gpu() != uuid) {
    return dlpack_error("the memory is not on GPU " + std::to_string(ordinal) + ", as the tensor says");
  }
  return array;
}

// A tensor of ours, with what it points to.
struct SharedTensor {
  DLManagedTensor tensor{};
  Array array;
  Shape shape;
  std::vector<std::int64_t> strides;
};

Result<DLDevice> device_of(const Array& array, const std::shared_ptr<GpuSystem>& gpus) {
  if (!array.is_on_device()) {
    return DLDevice{kDLCPU, 0};
  }
  const std::shared_ptr<const Gpu> gpu = (gpus ? gpus : shared_gpus())->find(array.device()->gpu());
  if (gpu == nullptr) {
    return Error(ErrorCode::kNotFound, "dlpack: the array is on a GPU that this process does not see");
  }
  return DLDevice{kDLCUDA, gpu->ordinal()};
}

}  // namespace

Result<Array> array_from_dlpack(DLManagedTensor* tensor, const std::shared_ptr<GpuSystem>& gpus, void* stream) {
  if (tensor == nullptr) {
    return dlpack_error("there is no tensor");
  }
  TESSERA_ASSIGN_OR_RETURN(const Layout layout, layout_of(tensor->dl_tensor));
  const auto owner = std::make_shared<TensorOwner>();
  const DLDevice& device = tensor->dl_tensor.device;
  std::optional<Array> array;
  switch (device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
      array = host_array(layout, owner);
      break;
    case kDLCUDA: {
      const std::shared_ptr<GpuSystem> system = gpus ? gpus : shared_gpus();
      TESSERA_ASSIGN_OR_RETURN(array, device_array(layout, device.device_id, owner, *system, stream));
      break;
    }
    default:
      return dlpack_error("memory of device type " + std::to_string(static_cast<int>(device.device_type)) +
                          " is neither the host's nor a CUDA GPU's");
  }
  // Nothing fails from here on: now the tensor is the array's, or done with.
  owner->tensor = tensor;
  return *std::move(array);
}

Result<DLManagedTensor*> dlpack_from_array(const Array& array, const std::shared_ptr<GpuSystem>& gpus) {
  if (!array.has_data()) {
    return dlpack_error("an array of shape and dtype alone has no data to share");
  }
  TESSERA_ASSIGN_OR_RETURN(const DLDevice device, device_of(array, gpus));
  auto shared = std::make_unique<SharedTensor>();
  shared->array = array;
  shared->shape = array.shape();
  shared->strides = c_order_strides(shared->shape);
  DLTensor& tensor = shared->tensor.dl_tensor;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): so DLPack has it
  tensor.data = array.is_on_device() ? reinterpret_cast<void*>(array.device()->address()) : array.buffer().data();
  tensor.device = device;
  tensor.ndim = static_cast<std::int32_t>(array.rank());
  tensor.dtype = dlpack_type_of(array.dtype());
  tensor.shape = shared->shape.data();
  tensor.strides = shared->strides.data();
  shared->tensor.manager_ctx = shared.get();
  shared->tensor.deleter = [](DLManagedTensor* self) {
    const std::unique_ptr<SharedTensor> whole(static_cast<SharedTensor*>(self->manager_ctx));
  };
  return &shared.release()->tensor;
}

}  // namespace tessera
