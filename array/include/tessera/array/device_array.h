// Arrays in GPU memory as this folder sees them: bytes that somebody else can copy, name and make (ipc, over CUDA).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tessera/array/dtype.h"
#include "tessera/array/shape.h"
#include "tessera/base/result.h"
#include "tessera/base/uuid.h"

namespace tessera {

class Array;

/// Memory on one GPU, which its handles (std::shared_ptr) keep alive. Immutable; safe to use from any thread. What is
/// in it is complete once the work of the stream that wrote it is done.
class DeviceBlock {
 public:
  DeviceBlock() = default;
  DeviceBlock(const DeviceBlock&) = delete;
  DeviceBlock& operator=(const DeviceBlock&) = delete;
  virtual ~DeviceBlock() = default;

  /// The GPU that the memory is on (cuDeviceGetUuid_v2).
  [[nodiscard]] virtual const Uuid& gpu() const = 0;
  /// The first byte, as a CUdeviceptr of this process; 0 if there are no bytes.
  [[nodiscard]] virtual std::uint64_t address() const = 0;
  [[nodiscard]] virtual std::size_t size_bytes() const = 0;
  /// The CUstream whose work fills the memory, as the driver has it; 0 is the legacy default stream.
  [[nodiscard]] virtual void* stream() const { return nullptr; }
  /// Waits for the work of stream(). Errors: of CUDA.
  [[nodiscard]] virtual Status wait() const = 0;
  /// Waits for all work that this process has given to the GPU, whatever the stream. Errors: of CUDA.
  [[nodiscard]] virtual Status wait_for_gpu() const = 0;
  /// Copies the first bytes.size() bytes to the host, once the stream's work is done. Requires: no more than there are.
  /// Errors: of CUDA.
  [[nodiscard]] virtual Status copy_to_host(std::span<std::byte> bytes) const = 0;
};

/// Makes arrays of the references by which a GPU transport hands them over. Safe to call from any thread.
class DeviceArrayReader {
 public:
  DeviceArrayReader() = default;
  DeviceArrayReader(const DeviceArrayReader&) = delete;
  DeviceArrayReader& operator=(const DeviceArrayReader&) = delete;
  virtual ~DeviceArrayReader() = default;

  /// Reads the text of a `buffer` whose encoding is "cuda_ipc" and that has the form of PROTOCOL.md section 5.5. The
  /// array is a copy of what the client exported, complete, on the GPU or on the host. Errors: why it cannot be had, in
  /// the words of a 422.
  [[nodiscard]] virtual Result<Array> read(std::string_view reference, DType dtype, Shape shape) const = 0;
};

/// Writes arrays in GPU memory for one response. One thread at a time.
class DeviceArrayWriter {
 public:
  DeviceArrayWriter() = default;
  DeviceArrayWriter(const DeviceArrayWriter&) = delete;
  DeviceArrayWriter& operator=(const DeviceArrayWriter&) = delete;
  virtual ~DeviceArrayWriter() = default;

  /// The text of the `buffer` by which the client finds the array, which stays alive until the client is done with it;
  /// nothing if no GPU transport was negotiated. Errors: of CUDA.
  [[nodiscard]] virtual Result<std::optional<std::string>> write(const Array& array) = 0;
  /// The same array in host memory, for a client that takes no reference. Errors: of CUDA, or that host copies are
  /// forbidden.
  [[nodiscard]] virtual Result<Array> to_host(const Array& array) = 0;
};

}  // namespace tessera
