// An input of a Tesseract with which arrays can be tried out, found in its schema (PROTOCOL.md section 9.2).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/array/array.h"
#include "tessera/array/value.h"

namespace tessera {

/// An input that takes an array with any number of elements. A plain value.
struct ArrayInput {
  std::string name;
  DType dtype = DType::kFloat64;
  std::size_t rank = 1;

  /// Of an array with so many elements for it: along the first axis.
  [[nodiscard]] Shape shape_of(std::int64_t elements) const;
};

/// The first one of a schema (Tesseract::input_schema()) whose values may not have other keys; a call with such a key
/// is refused once its arrays were read, and computes nothing. Nothing if there is none. Safe to call from any thread.
[[nodiscard]] std::optional<ArrayInput> find_array_input(const Value& input_schema);
/// A key that no Tesseract has.
inline constexpr const char* kUnknownInput = "tessera-probe";

}  // namespace tessera
