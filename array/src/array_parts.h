// A well-formed array object in parts, and its decoding.
#pragma once

#include <optional>
#include <string_view>
#include <variant>

#include "array_object.h"
#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"
#include "tessera/array/json_scanner.h"

namespace tessera {

/// NumPy's bound on the rank.
inline constexpr std::size_t kMaxArrayRank = 64;

enum class WireEncoding { kJson, kBase64, kBinref, kCudaIpc };

/// The value of "buffer". It is decoded while it is read if the members before it say how it probably is encoded; the
/// text itself is kept for the case that the members behind it say otherwise. Borrows the scanned text.
struct RawBuffer {
  JsonKind kind = JsonKind::kInvalid;
  std::string_view value;
  JsonText text;           ///< kText only
  bool is_folded = false;  ///< then there is neither value nor text
  /// Decoded as base64 (a text) or json (all else), for this type and shape.
  std::optional<std::variant<Array, ArrayFault>> decoded;
  DType dtype = DType::kFloat64;
  Shape shape;
};

/// A plain value.
struct ArrayParts {
  DType dtype = DType::kFloat64;
  Shape shape;
  RawBuffer buffer;
  WireEncoding encoding = WireEncoding::kJson;
  bool is_compressed = false;
};

/// Decodes the buffer; faults are of kinds kDecode, kOutOfRange and kExpectedInteger. Throws std::bad_alloc.
[[nodiscard]] std::variant<Array, ArrayFault> decode_array_parts(ArrayParts parts, const ArrayObjectContext& context);

}  // namespace tessera
