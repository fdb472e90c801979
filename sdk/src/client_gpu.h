// GPU arrays of one client: exported for the time of a call, imported from responses.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/array/device_array.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera {

/// The GPUs of a client with the transport between them and the server. Safe to use from any thread.
struct ClientGpu {
  /// Opens the GPUs that `gpus` has, or those of the process.
  explicit ClientGpu(std::shared_ptr<GpuSystem> gpus);

  std::shared_ptr<GpuSystem> system;
  std::unique_ptr<GpuTransport> transport;
};

/// Writes the GPU arrays of one request: as references that hold for as long as this lives, or on the host.
class RequestExports final : public DeviceArrayWriter {
 public:
  /// `gpu` is asked for if there is an array to hand over. Without `is_by_reference` every array goes through the host.
  RequestExports(bool is_by_reference, std::function<ClientGpu&()> gpu)
      : is_by_reference_(is_by_reference), gpu_(std::move(gpu)) {}

  [[nodiscard]] Result<std::optional<std::string>> write(const Array& array) override;
  [[nodiscard]] Result<Array> to_host(const Array& array) override;
  /// Whether an error was one of the GPU.
  [[nodiscard]] bool has_failed() const { return has_failed_; }

 private:
  bool is_by_reference_;
  bool has_failed_ = false;
  std::function<ClientGpu&()> gpu_;
  std::vector<std::shared_ptr<void>> owners_;
};

/// Reads the GPU arrays of one response: as copies, or, borrowed, as the server's memory together with a share in
/// `loan`.
class ResponseImports final : public DeviceArrayReader {
 public:
  /// `loan`: dropped by the last array that is borrowed; empty to copy.
  ResponseImports(std::function<ClientGpu&()> gpu, std::shared_ptr<void> loan)
      : gpu_(std::move(gpu)), loan_(std::move(loan)) {}

  [[nodiscard]] Result<Array> read(std::string_view reference, DType dtype, Shape shape) const override;

 private:
  std::function<ClientGpu&()> gpu_;
  std::shared_ptr<void> loan_;
};

}  // namespace tessera
