// The round trip that tells whether a transport works between two processes (PROTOCOL.md section 8.3).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "tessera/array/array.h"
#include "tessera/base/result.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera {

inline constexpr std::size_t kCheckBytes = 256;

/// The server's part: reads the client's array, compares it with the bytes that it should hold, and gives it back
/// reversed, on the same GPU. Errors: as import_array(); kInvalidArgument if the bytes differ.
[[nodiscard]] Result<Array> answer_check(GpuSystem& gpus, GpuTransport& transport, std::string_view reference,
                                         std::span<const std::byte> expected);

/// The client's part, in order: start(), send what it gives, finish() with the reply, drop it. One thread at a time.
class TransportCheck {
 public:
  /// Exports kCheckBytes random bytes on a GPU. `transport` outlives it. Errors: of CUDA.
  [[nodiscard]] static Result<TransportCheck> start(GpuSystem& gpus, GpuTransport& transport, const Uuid& gpu);

  /// The `buffer` of the array (uint8, shape [256]) of the request.
  [[nodiscard]] const std::string& reference() const { return exported_.reference; }
  [[nodiscard]] std::span<const std::byte> expected() const { return expected_; }
  /// Reads the array of the reply and compares. Errors: as import_array(); kInvalidArgument if the bytes differ.
  [[nodiscard]] Status finish(std::string_view reply_reference) const;

 private:
  explicit TransportCheck(GpuTransport& transport) : transport_(&transport) {}

  GpuTransport* transport_;
  std::array<std::byte, kCheckBytes> expected_{};
  ExportedArray exported_;
};

}  // namespace tessera
