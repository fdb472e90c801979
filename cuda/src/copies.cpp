#include "driver_call.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {

Status copy_on_device(const Gpu& gpu, std::uint64_t target, std::uint64_t source, std::size_t size_bytes) {
  if (size_bytes == 0) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu.enter());
  const Driver& driver = gpu.driver();
  TESSERA_RETURN_IF_ERROR(status_of(
      driver, "cuMemcpyDtoD", driver.functions().memcpy_on_device(target, source, size_bytes, per_thread_stream())));
  return wait_for_own_stream(driver);
}

Status copy_to_host(const Gpu& gpu, std::span<std::byte> target, std::uint64_t source) {
  if (target.empty()) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu.enter());
  const Driver& driver = gpu.driver();
  TESSERA_RETURN_IF_ERROR(
      status_of(driver, "cuMemcpyDtoH",
                driver.functions().memcpy_to_host(target.data(), source, target.size(), per_thread_stream())));
  return wait_for_own_stream(driver);
}

Status copy_to_device(const Gpu& gpu, std::uint64_t target, std::span<const std::byte> source) {
  if (source.empty()) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu.enter());
  const Driver& driver = gpu.driver();
  TESSERA_RETURN_IF_ERROR(
      status_of(driver, "cuMemcpyHtoD",
                driver.functions().memcpy_to_device(target, source.data(), source.size(), per_thread_stream())));
  return wait_for_own_stream(driver);
}

Status clear_on_device(const Gpu& gpu, std::uint64_t target, std::size_t size_bytes) {
  if (size_bytes == 0) {
    return {};
  }
  TESSERA_ASSIGN_OR_RETURN(const ContextScope scope, gpu.enter());
  const Driver& driver = gpu.driver();
  TESSERA_RETURN_IF_ERROR(
      status_of(driver, "cuMemsetD8", driver.functions().memset_bytes(target, 0, size_bytes, per_thread_stream())));
  return wait_for_own_stream(driver);
}

}  // namespace tessera
