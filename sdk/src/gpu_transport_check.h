// The client's side of `/check_gpu_transport` (PROTOCOL.md section 8.3).
#pragma once

#include <string>
#include <string_view>

#include "client_gpu.h"
#include "tessera/array/body.h"
#include "tessera/base/result.h"
#include "tessera/ipc/transport_check.h"

namespace tessera {

/// One check: begin(), send body(), finish() with the answer. One thread at a time.
class GpuTransportCheck {
 public:
  /// Errors: why this process cannot export GPU memory, a sentence with its reason code.
  [[nodiscard]] static Result<GpuTransportCheck> begin(ClientGpu& gpu);

  /// The request; says, too, who we are.
  [[nodiscard]] Body body() const;
  /// Reads the reply and what it exports. Errors: why the transport does not work, a sentence.
  [[nodiscard]] Status finish(std::string_view reply) const;

 private:
  GpuTransportCheck(ClientGpu& gpu, TransportCheck check) : gpu_(&gpu), check_(std::move(check)) {}

  ClientGpu* gpu_;
  TransportCheck check_;
};

}  // namespace tessera
