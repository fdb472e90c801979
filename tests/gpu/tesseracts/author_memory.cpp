#include "author_memory.h"

#include <algorithm>
#include <dlfcn.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tessera/cuda/device_memory.h"
#include "tessera/cuda/gpu.h"

namespace tessera::gpu_tests {
namespace {

constexpr std::size_t kLeadBytes = 1024;

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
template <class Free>
std::shared_ptr<void> owner_of(const Gpu& gpu, std::uint64_t address, Free free) {
  return {reinterpret_cast<void*>(address), [&gpu, address, free](void*) {
            if (const Result<ContextScope> scope = gpu.enter()) {
              free(address);
            }
          }};
}

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
  return {address, owner_of(gpu, address, [free](std::uint64_t freed) { free(freed, nullptr); })};
}

Memory allocate_managed(const Gpu& gpu, std::size_t size_bytes) {
  constexpr unsigned kAttachGlobal = 1;
  const ContextScope scope = unwrap(gpu.enter());
  std::uint64_t address = 0;
  check(driver_call<int (*)(std::uint64_t*, std::size_t, unsigned)>("cuMemAllocManaged")(&address, size_bytes,
                                                                                         kAttachGlobal),
        "cuMemAllocManaged");
  const auto free = driver_call<int (*)(std::uint64_t)>("cuMemFree_v2");
  return {address, owner_of(gpu, address, [free](std::uint64_t freed) { free(freed); })};
}

Memory allocate_plain(const Gpu& gpu, std::size_t size_bytes) {
  const ContextScope scope = unwrap(gpu.enter());
  std::uint64_t address = 0;
  check(driver_call<int (*)(std::uint64_t*, std::size_t)>("cuMemAlloc_v2")(&address, size_bytes), "cuMemAlloc");
  const auto free = driver_call<int (*)(std::uint64_t)>("cuMemFree_v2");
  return {address, owner_of(gpu, address, [free](std::uint64_t freed) { free(freed); })};
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
    throw EndpointError("RuntimeError", gpus.problem() ? gpus.problem()->sentence : "no such GPU");
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

}  // namespace tessera::gpu_tests
