#include "author_memory.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cuda/device_memory.h"
#include "tessera/cuda/device_pool.h"
#include "tessera/cuda/driver_functions.h"
#include "tessera/cuda/gpu.h"

namespace tessera::gpu_tests {
namespace {

constexpr std::size_t kLeadBytes = 1024;

std::size_t whole_pages(std::size_t size_bytes) {
  constexpr std::size_t kPage = DevicePool::kGranularityBytes;
  return (size_bytes + kPage - 1) / kPage * kPage;
}

// An author's own library finds the driver by itself; both are one in a process.
template <class Function>
Function driver_call(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  void* symbol = library == nullptr ? nullptr : ::dlsym(library, name);
  if (symbol == nullptr) {
    throw EndpointError("RuntimeError", std::string("the driver has no ") + name);
  }
  return reinterpret_cast<Function>(symbol);
}

void check(int code, const char* call) {
  if (code != 0) {
    throw EndpointError("RuntimeError", std::string(call) + " gives " + std::to_string(code));
  }
}

// Frees in the context in which it was allocated; the GPU outlives it in a GpuSystem that is kept.
class Owner {
 public:
  Owner(const Gpu& gpu, std::uint64_t address, std::function<void(std::uint64_t)> free)
      : gpu_(&gpu), address_(address), free_(std::move(free)) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (const Result<ContextScope> scope = gpu_->enter()) {
      free_(address_);
    }
  }

 private:
  const Gpu* gpu_;
  std::uint64_t address_;
  std::function<void(std::uint64_t)> free_;
};

struct Memory {
  std::uint64_t address = 0;
  std::shared_ptr<void> owner;
};

Memory allocate_in_pool(const Gpu& gpu, std::size_t size_bytes) {
  const ContextScope scope = unwrap(gpu.enter());
  std::uint64_t address = 0;
  check(driver_call<int (*)(std::uint64_t*, std::size_t, void*)>("cuMemAllocAsync")(&address, size_bytes, nullptr),
        "cuMemAllocAsync");
  const auto free = driver_call<int (*)(std::uint64_t, void*)>("cuMemFreeAsync");
  return {address, std::make_shared<Owner>(gpu, address, [free](std::uint64_t freed) { free(freed, nullptr); })};
}

Memory allocate_managed(const Gpu& gpu, std::size_t size_bytes) {
  constexpr unsigned kAttachGlobal = 1;
  const ContextScope scope = unwrap(gpu.enter());
  std::uint64_t address = 0;
  check(driver_call<int (*)(std::uint64_t*, std::size_t, unsigned)>("cuMemAllocManaged")(&address, size_bytes,
                                                                                         kAttachGlobal),
        "cuMemAllocManaged");
  const auto free = driver_call<int (*)(std::uint64_t)>("cuMemFree_v2");
  return {address, std::make_shared<Owner>(gpu, address, [free](std::uint64_t freed) { free(freed); })};
}

Memory allocate_plain(const Gpu& gpu, std::size_t size_bytes) {
  const ContextScope scope = unwrap(gpu.enter());
  std::uint64_t address = 0;
  check(driver_call<int (*)(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&address, size_bytes), "cuMemAlloc");
  const auto free = driver_call<int (*)(std::uint64_t)>("cuMemFree_v2");
  return {address, std::make_shared<Owner>(gpu, address, [free](std::uint64_t freed) { free(freed); })};
}

// Each element twice, so that every second one is the array.
Array doubled(const Array& array) {
  Array twice = Array::allocate(array.dtype(), Shape{array.size(), 2});
  const std::size_t item = item_size_bytes(array.dtype());
  const std::span<std::byte> target = twice.mutable_bytes();
  for (std::size_t i = 0; i < target.size() / item; ++i) {
    std::copy_n(array.bytes().begin() + static_cast<std::ptrdiff_t>(i / 2 * item), item,
                target.begin() + static_cast<std::ptrdiff_t>(i * item));
  }
  return twice;
}

std::vector<std::int64_t> strides_of_every_second(const Array& array) {
  std::vector<std::int64_t> strides(array.rank());
  std::int64_t stride = 2 * static_cast<std::int64_t>(item_size_bytes(array.dtype()));
  for (std::size_t axis = array.rank(); axis-- > 0;) {
    strides[axis] = stride;
    stride *= array.shape()[axis];
  }
  return strides;
}

}  // namespace

const Gpu& gpu_of(GpuSystem& gpus, std::size_t number) {
  if (number >= gpus.gpus().size()) {
    const std::optional<TransportProblem>& problem = gpus.problem();
    throw EndpointError("RuntimeError", problem ? problem->sentence : "no such GPU");
  }
  return *gpus.gpus()[number];
}

Array copy_to(AuthorMemory memory, const Array& array, GpuSystem& gpus, const Gpu& gpu) {
  const Array host = unwrap(array.to_host());
  const std::size_t size_bytes = host.size_bytes();
  Memory made;
  ForeignMemory foreign;
  std::size_t lead_bytes = 0;
  switch (memory) {
    case AuthorMemory::kPool:
      made = allocate_in_pool(gpu, size_bytes);
      break;
    case AuthorMemory::kManaged:
      made = allocate_managed(gpu, size_bytes);
      break;
    case AuthorMemory::kOffset:
      lead_bytes = kLeadBytes;
      made = allocate_plain(gpu, 2 * kLeadBytes + size_bytes);
      break;
    case AuthorMemory::kPages:
      lead_bytes = kLeadBytes;
      made = allocate_plain(gpu, whole_pages(kLeadBytes + size_bytes));
      break;
    case AuthorMemory::kStrided:
      foreign.strides_bytes = strides_of_every_second(host);
      made = allocate_plain(gpu, 2 * size_bytes);
      break;
  }
  foreign.address = made.address + lead_bytes;
  foreign.owner = std::move(made.owner);
  const Array source = memory == AuthorMemory::kStrided ? doubled(host) : host;
  unwrap(copy_to_device(gpu, foreign.address, source.bytes()));
  return unwrap(gpus.wrap(host.dtype(), host.shape(), std::move(foreign)));
}

Array copy_on_a_stream(const Array& array, GpuSystem& gpus, const Gpu& gpu) {
  constexpr unsigned kNonBlocking = 1;
  if (!array.is_on_device()) {
    throw EndpointError("ValueError", "there is nothing on a GPU to copy from");
  }
  const DriverFunctions& driver = gpu.driver().functions();
  Memory made = allocate_plain(gpu, array.size_bytes());
  ForeignMemory foreign;
  foreign.address = made.address;
  const ContextScope scope = unwrap(gpu.enter());
  check(driver.stream_create(&foreign.stream, kNonBlocking), "cuStreamCreate");
  check(driver.memcpy_on_device(foreign.address, array.device()->address(), array.size_bytes(), foreign.stream),
        "cuMemcpyDtoDAsync");
  // The memory goes first, and that waits for what the stream still has to do.
  foreign.owner =
      std::shared_ptr<void>(foreign.stream, [&gpu, &driver, memory = std::move(made.owner)](void* stream) mutable {
        memory.reset();
        if (const Result<ContextScope> destroying = gpu.enter()) {
          driver.stream_destroy(stream);
        }
      });
  return unwrap(gpus.wrap(array.dtype(), array.shape(), std::move(foreign)));
}

}  // namespace tessera::gpu_tests
