// GPU memory of this process, memory of others mapped here, and what the driver knows about an address.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "tessera/base/result.h"
#include "tessera/cuda/gpu.h"

namespace tessera {

/// What cuIpcGetMemHandle gives for an allocation: 64 bytes that another process of this host can open. A plain value.
struct IpcMemHandle {
  std::array<std::byte, 64> bytes{};
  friend auto operator<=>(const IpcMemHandle&, const IpcMemHandle&) = default;
};

/// An allocation (cuMemAlloc). Move-only; freed with its owner, which may wait for the work of the device.
class DeviceMemory {
 public:
  /// Errors: kOutOfMemory, kInvalidArgument for no bytes, others of CUDA. The memory is not cleared.
  [[nodiscard]] static Result<DeviceMemory> allocate(std::shared_ptr<const Gpu> gpu, std::size_t size_bytes);

  DeviceMemory(DeviceMemory&& other) noexcept;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory();

  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return gpu_; }
  [[nodiscard]] std::uint64_t address() const { return address_; }
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  DeviceMemory(std::shared_ptr<const Gpu> gpu, std::uint64_t address, std::size_t size_bytes);

  std::shared_ptr<const Gpu> gpu_;
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
};

/// The handle of the allocation that holds `address`, whichever byte of it that is. Errors: kInvalidArgument for memory
/// that legacy IPC refuses (ask is_ipc_capable first), others of CUDA.
[[nodiscard]] Result<IpcMemHandle> ipc_handle_of(const Gpu& gpu, std::uint64_t address);

/// An allocation of another process, mapped (cuIpcOpenMemHandle with lazy peer access). Move-only; closed with its
/// owner, which waits for the work of the device. The same handle opened twice gives the same address, counted by the
/// driver.
class IpcMapping {
 public:
  /// Errors: of CUDA; native_code() tells 201, 205, 208, … apart.
  [[nodiscard]] static Result<IpcMapping> open(std::shared_ptr<const Gpu> gpu, const IpcMemHandle& handle);

  IpcMapping(IpcMapping&& other) noexcept;
  IpcMapping& operator=(IpcMapping&& other) noexcept;
  IpcMapping(const IpcMapping&) = delete;
  IpcMapping& operator=(const IpcMapping&) = delete;
  ~IpcMapping();

  [[nodiscard]] const std::shared_ptr<const Gpu>& gpu() const { return gpu_; }
  /// Where the allocation begins in this process.
  [[nodiscard]] std::uint64_t address() const { return address_; }
  /// The size that the driver says it has (cuMemGetAddressRange), whatever the other side claims.
  [[nodiscard]] std::size_t size_bytes() const { return size_bytes_; }

 private:
  IpcMapping(std::shared_ptr<const Gpu> gpu, std::uint64_t address, std::size_t size_bytes);

  std::shared_ptr<const Gpu> gpu_;
  std::uint64_t address_ = 0;
  std::size_t size_bytes_ = 0;
};

/// What the driver knows about an address (cuPointerGetAttributes).
struct PointerInfo {
  int ordinal = -1;               ///< of the GPU that the memory is on
  bool is_device_memory = false;  ///< false for host memory, also where the GPU can reach it
  bool is_managed = false;
  bool is_ipc_capable = false;      ///< cuIpcGetMemHandle takes it: neither VMM, nor pool, nor managed
  std::uint64_t buffer_id = 0;      ///< unique within the process, never used again
  std::uint64_t range_address = 0;  ///< of the allocation
  std::size_t range_bytes = 0;
};
/// Nothing if the driver does not know the address. Errors: of CUDA.
[[nodiscard]] Result<std::optional<PointerInfo>> query_pointer(const Driver& driver, std::uint64_t address);

/// Copies. Each returns when the bytes are there (the plain copy between device addresses does not, by itself). They
/// run on a stream of the thread's own, which comes after the legacy default stream, but not after non-blocking ones:
/// wait for the stream that makes the source first (Gpu::synchronize). Errors: of CUDA.
[[nodiscard]] Status copy_on_device(const Gpu& gpu, std::uint64_t target, std::uint64_t source, std::size_t size_bytes);
[[nodiscard]] Status copy_to_host(const Gpu& gpu, std::span<std::byte> target, std::uint64_t source);
[[nodiscard]] Status copy_to_device(const Gpu& gpu, std::uint64_t target, std::span<const std::byte> source);
/// Sets bytes to zero, in the same way.
[[nodiscard]] Status clear_on_device(const Gpu& gpu, std::uint64_t target, std::size_t size_bytes);

/// Copies elements with strides into C order on the device, in the same way. `strides_bytes` may be negative or zero;
/// as many as `shape`; `source` is the first element. What is not in order on an axis with a negative stride costs a
/// copy for each step of that axis. Errors: kInvalidArgument for sizes that do not fit, others of CUDA.
[[nodiscard]] Status pack_on_device(const Gpu& gpu, std::uint64_t target, std::uint64_t source,
                                    std::size_t item_size_bytes, std::span<const std::int64_t> shape,
                                    std::span<const std::int64_t> strides_bytes);

}  // namespace tessera
