// The buffers of base64 and binref array objects: bytes as they are, or one lz4 frame (PROTOCOL.md sections 5.2
// to 5.4).
#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"
#include "tessera/base/confined_folder.h"

namespace tessera {

/// How such a buffer is written. A plain value.
struct BinaryLayout {
  DType dtype = DType::kFloat64;
  Shape shape;  ///< no size is negative
  bool is_compressed = false;
  std::uint64_t limit_bytes = 0;  ///< of the array
};

/// Decodes the base64 text of a buffer. Allocates nothing before the sizes fit. Throws std::bad_alloc.
[[nodiscard]] std::variant<Array, ArrayFault> read_base64_buffer(std::string_view text, const BinaryLayout& layout);

/// Reads the file that the text of a buffer names; `files` may be null. Requires: the text is not empty and holds no
/// line break. Throws std::bad_alloc.
[[nodiscard]] std::variant<Array, ArrayFault> read_binref_buffer(std::string_view text, const BinaryLayout& layout,
                                                                 const ConfinedFolder* files);

/// Makes bytes that come from outside an array; bytes of booleans become 0 or 1.
/// Requires: the buffer has exactly the bytes of the shape.
[[nodiscard]] Array adopt_bytes(DType dtype, const Shape& shape, Buffer buffer);

}  // namespace tessera
