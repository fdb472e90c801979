#include "vector_kernels.h"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "tessera/cuda/driver_functions.h"

using namespace tessera;

// What nvcc made of vector_kernels.cu.
extern "C" const unsigned long long kVectorKernels[];

namespace {

constexpr unsigned int kThreads = 256;  // of a block; vector_kernels.cu has the same
constexpr unsigned int kMostBlocks = 1024;

constexpr std::array kKernelNames{"combine",   "scale",
                                  "dot_parts", "add_parts",
                                  "normalize", "follow_normalization",
                                  "diagonal",  "normalized_diagonal"};

void check(const Gpu& gpu, const char* call, int result) {
  if (result != kCudaSuccess) {
    throw std::runtime_error(gpu.driver().error_of(call, result).message());
  }
}

// The value, or its error as an exception.
template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message());
  }
  return *std::move(result);
}
void must(const Status& status) {
  if (!status) {
    throw std::runtime_error(status.error().message());
  }
}

unsigned int blocks_for(std::int64_t size) {
  const std::int64_t blocks = size / kThreads + (size % kThreads == 0 ? 0 : 1);
  return static_cast<unsigned int>(std::min<std::int64_t>(blocks, kMostBlocks));
}

CuAddress address_of(const Array& array) {
  return array.device()->address();
}

}  // namespace

enum class VectorWork::Kernel : unsigned {
  kCombine,
  kScale,
  kDotParts,
  kAddParts,
  kNormalize,
  kFollowNormalization,
  kDiagonal,
  kNormalizedDiagonal,
};

class LoadedKernels {
 public:
  explicit LoadedKernels(std::shared_ptr<const Gpu> gpu) : gpu_(std::move(gpu)), driver_(gpu_->driver().functions()) {
    if (driver_.launch_kernel == nullptr || driver_.module_load_data == nullptr) {
      throw std::runtime_error("the driver " + gpu_->driver().library_path() + " runs no kernels");
    }
    const ContextScope scope = must(gpu_->enter());
    check(*gpu_, "cuModuleLoadData", driver_.module_load_data(&module_, kVectorKernels));
    for (std::size_t i = 0; i < kKernelNames.size(); ++i) {
      check(*gpu_, "cuModuleGetFunction", driver_.module_get_function(&kernels_[i], module_, kKernelNames[i]));
    }
  }
  LoadedKernels(const LoadedKernels&) = delete;
  LoadedKernels& operator=(const LoadedKernels&) = delete;
  // At the end of the process the driver may have gone before; then there is nothing to give back.
  ~LoadedKernels() {
    if (const Result<ContextScope> scope = gpu_->enter(); scope) {
      for (CuStream stream : idle_streams_) {
        driver_.stream_destroy(stream);
      }
      driver_.module_unload(module_);
    }
  }

  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return gpu_; }

  // A stream that nobody else uses until it is given back. Requires: the context of the GPU.
  CuStream take_stream() {
    {
      const std::scoped_lock lock(mutex_);
      if (!idle_streams_.empty()) {
        CuStream stream = idle_streams_.back();
        idle_streams_.pop_back();
        return stream;
      }
    }
    CuStream stream = nullptr;
    check(*gpu_, "cuStreamCreate", driver_.stream_create(&stream, kStreamNonBlocking));
    return stream;
  }
  void give_back(CuStream stream) {
    const std::scoped_lock lock(mutex_);
    idle_streams_.push_back(stream);
  }

  void launch(VectorWork::Kernel kernel, unsigned int blocks, CuStream stream, void** arguments) const {
    check(*gpu_, "cuLaunchKernel",
          driver_.launch_kernel(kernels_[static_cast<unsigned>(kernel)], blocks, 1, 1, kThreads, 1, 1, 0, stream,
                                arguments, nullptr));
  }

 private:
  std::shared_ptr<const Gpu> gpu_;
  const DriverFunctions& driver_;
  CuModule module_ = nullptr;
  std::array<CuFunction, kKernelNames.size()> kernels_{};
  std::mutex mutex_;
  std::vector<CuStream> idle_streams_;
};

std::shared_ptr<LoadedKernels> KernelStore::on(const std::shared_ptr<const Gpu>& gpu) {
  const std::scoped_lock lock(mutex_);
  const auto found = std::ranges::find(loaded_, gpu, &LoadedKernels::gpu);
  return found != loaded_.end() ? *found : loaded_.emplace_back(std::make_shared<LoadedKernels>(gpu));
}

VectorWork::VectorWork(std::shared_ptr<GpuSystem> gpus, std::shared_ptr<LoadedKernels> kernels)
    : gpus_(std::move(gpus)),
      kernels_(std::move(kernels)),
      scope_(must(kernels_->gpu()->enter())),
      stream_(kernels_->take_stream()) {}

VectorWork::~VectorWork() {
  if (kernels_->gpu()->synchronize(stream_)) {
    kernels_->give_back(stream_);
  }
}

Array VectorWork::take(const Array& array) {
  const Gpu& gpu = *kernels_->gpu();
  const bool is_here = array.is_on_device() && array.device()->gpu() == gpu.uuid();
  if (is_here) {
    must(gpu.synchronize(array.device()->stream()));
  }
  return used_.emplace_back(is_here ? array : must(gpus_->to_device(array, gpu.uuid())));
}

Array VectorWork::allocate(Shape shape) {
  return used_.emplace_back(must(gpus_->allocate(kernels_->gpu()->uuid(), DType::kFloat64, std::move(shape))));
}

template <class... Arguments>
void VectorWork::launch(Kernel kernel, unsigned int blocks, Arguments... arguments) {
  if (blocks != 0) {
    std::array<void*, sizeof...(arguments)> pointers{&arguments...};
    kernels_->launch(kernel, blocks, stream_, pointers.data());
  }
}

void VectorWork::combine(const Array& result, double x, const Array& a, double y, const Array& b) {
  launch(Kernel::kCombine, blocks_for(result.size()), address_of(result), x, address_of(a), y, address_of(b),
         result.size());
}

void VectorWork::scale(const Array& result, double x, const Array& a) {
  launch(Kernel::kScale, blocks_for(result.size()), address_of(result), x, address_of(a), result.size());
}

void VectorWork::dot(const Array& result, const Array& a, const Array& b) {
  const unsigned int blocks = std::max(blocks_for(a.size()), 1U);
  const Array parts = allocate({blocks});
  launch(Kernel::kDotParts, blocks, address_of(parts), address_of(a), address_of(b), a.size());
  launch(Kernel::kAddParts, 1, address_of(result), address_of(parts), parts.size());
}

void VectorWork::normalize(const Array& values, const Array& length_squared) {
  launch(Kernel::kNormalize, blocks_for(values.size()), address_of(values), address_of(length_squared), values.size());
}

void VectorWork::follow_normalization(const Array& change, const Array& vector, const Array& length_squared) {
  const Array along = allocate({1});
  dot(along, vector, change);
  launch(Kernel::kFollowNormalization, blocks_for(change.size()), address_of(change), address_of(vector),
         address_of(length_squared), address_of(along), change.size());
}

void VectorWork::diagonal(const Array& matrix, double factor) {
  launch(Kernel::kDiagonal, blocks_for(matrix.size()), address_of(matrix), factor, matrix.shape()[0]);
}

void VectorWork::normalized_diagonal(const Array& matrix, double factor, const Array& vector,
                                     const Array& length_squared) {
  launch(Kernel::kNormalizedDiagonal, blocks_for(matrix.size()), address_of(matrix), factor, address_of(vector),
         address_of(length_squared), matrix.shape()[0]);
}

void VectorWork::finish() {
  must(kernels_->gpu()->synchronize(stream_));
}
