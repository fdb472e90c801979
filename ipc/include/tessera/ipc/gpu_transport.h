// How arrays in GPU memory cross to another process of the host.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "tessera/array/array.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/transport_problem.h"

namespace tessera {

/// An array that another process may read for as long as `owner` lives.
struct ExportedArray {
  std::string reference;         ///< what goes into the message
  std::shared_ptr<void> owner;   ///< keeps the memory; empty if there is nothing to keep. Dropped on any thread
  std::size_t pinned_bytes = 0;  ///< of GPU memory that it keeps
  bool is_staged = false;        ///< it was copied on the device first
};

/// What an import made of a reference.
struct ImportedArray {
  Array array;
  enum class Path { kCopied, kBorrowed, kSameProcess, kEmpty };
  Path path = Path::kCopied;
};

/// A way of handing device arrays over: `cuda_ipc`. (`none` is to have no transport.) Safe to use from any thread.
class GpuTransport {
 public:
  enum class Borrow { kNo, kYes };

  GpuTransport() = default;
  GpuTransport(const GpuTransport&) = delete;
  GpuTransport& operator=(const GpuTransport&) = delete;
  virtual ~GpuTransport() = default;

  /// "cuda_ipc": the name on the wire.
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Why it cannot work in this process, whoever the peer is; nothing if it can.
  [[nodiscard]] virtual std::optional<TransportProblem> problem() const = 0;

  /// Names an array on a GPU. Memory of the pool, and foreign memory that legacy IPC takes and whose allocation shares
  /// no page with others (whole 2 MiB), are named in place, the base's handle and the offset; other memory is copied on
  /// the device into a buffer of the pool first. The stream that fills the array is waited for. Errors:
  /// kInvalidArgument for a host array, kOutOfMemory, others of CUDA.
  [[nodiscard]] virtual Result<ExportedArray> export_array(const Array& array) = 0;

  /// Reads what another process (or this one: then the memory itself is handed on, without IPC) exported. Everything
  /// that can be checked is, before CUDA sees the handle; the mapping's real size is checked before a byte is read. A
  /// copy is complete on return, on the same GPU; a borrowed array is the exporter's memory, mapped, and must be
  /// dropped before the exporter is told that it is done with. Errors, whose message is a sentence: kInvalidArgument
  /// (the reference or the sizes are wrong), kNotFound (the GPU is not visible), kOutOfMemory, others of CUDA with
  /// native_code().
  [[nodiscard]] virtual Result<ImportedArray> import_array(std::string_view reference, DType dtype, Shape shape,
                                                           Borrow borrow) = 0;
  /// What an error of import_array() means to the user; the sentence begins with the error's message, if a GPU is
  /// there.
  [[nodiscard]] virtual TransportProblem explain(const Error& error) const = 0;
};

/// CUDA IPC by memory handles (PROTOCOL.md section 5.5). Requires: what GpuSystem::open() gave, which it keeps alive.
[[nodiscard]] std::unique_ptr<GpuTransport> make_cuda_ipc(std::shared_ptr<GpuSystem> gpus);

}  // namespace tessera
