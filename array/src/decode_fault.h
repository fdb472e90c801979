// Faults of buffers that belong to well-formed array objects (PROTOCOL.md section 7.3).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tessera/array/array_fault.h"

namespace tessera {

/// kDecode with this encoding and reason.
[[nodiscard]] ArrayFault decode_fault(std::string_view encoding, std::string reason);
/// NumPy's words for a number of elements that is not that of the shape.
[[nodiscard]] std::string cannot_reshape(std::uint64_t count, const Shape& shape);
/// kDecode for an array beyond the limit on decoded bytes.
[[nodiscard]] ArrayFault over_limit(std::string_view encoding, const Shape& shape, DType dtype,
                                    std::uint64_t limit_bytes);

}  // namespace tessera
