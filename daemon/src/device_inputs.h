// Reads the GPU arrays of requests, through the transport that is configured.
#pragma once

#include <atomic>
#include <cstddef>

#include "gpu_exchange.h"
#include "tessera/array/device_array.h"

namespace tessera {

/// One for each call, or for all of a kind: what it counts may come from many threads.
class DeviceInputs final : public DeviceArrayReader {
 public:
  /// `to_host`: for a Tesseract that takes host arrays only. Requires: a transport. `exchange` outlives it.
  DeviceInputs(GpuExchange& exchange, bool to_host) : exchange_(exchange), to_host_(to_host) {}

  [[nodiscard]] Result<Array> read(std::string_view reference, DType dtype, Shape shape) const override;

  /// Forgets what was counted.
  void begin_again() {
    is_gpu_full_ = false;
    through_host_ = 0;
  }
  /// Whether a GPU had no memory left for one of them.
  [[nodiscard]] bool is_gpu_full() const { return is_gpu_full_; }
  /// How many were copied to the host.
  [[nodiscard]] std::size_t through_host() const { return through_host_; }

 private:
  GpuExchange& exchange_;
  bool to_host_;
  mutable std::atomic<bool> is_gpu_full_{false};
  mutable std::atomic<std::size_t> through_host_{0};
};

/// Whether a body may name arrays in GPU memory, at a glance: some that do not look as if they did.
[[nodiscard]] bool may_name_gpu_arrays(std::string_view body);

/// An error of the transport in the words of a 422: what failed, and what that means to the client.
[[nodiscard]] std::string import_failure(const GpuTransport& transport, const Error& error);

}  // namespace tessera
