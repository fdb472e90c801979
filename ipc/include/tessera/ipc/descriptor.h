// The text by which an array in GPU memory is named on the wire (PROTOCOL.md section 5.5).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/result.h"
#include "tessera/base/uuid.h"
#include "tessera/cuda/device_memory.h"

namespace tessera {

/// `<device>:<handle>:<storage_offset>:<storage_size>`. A plain value.
struct CudaIpcDescriptor {
  Uuid gpu;
  std::optional<IpcMemHandle> handle;  ///< of the allocation's base; none for an array without elements
  std::uint64_t offset_bytes = 0;      ///< of the array in the allocation
  std::uint64_t allocation_bytes = 0;

  /// Reads it; strict: one form, base64 of exactly 64 bytes or none, numbers that fit 64 bits. Errors:
  /// kInvalidArgument, naming the part.
  [[nodiscard]] static Result<CudaIpcDescriptor> parse(std::string_view text);
  [[nodiscard]] std::string text() const;

  friend bool operator==(const CudaIpcDescriptor&, const CudaIpcDescriptor&) = default;
};

}  // namespace tessera
