// The ways in which the arrays of a client travel, and arrays to send in each of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/array/array.h"
#include "tessera/sdk/tesseract.h"

namespace tessera::testing {

/// What a client asks for, and whether it sends files itself.
struct EncodingWay {
  const char* name;
  RequestedEncoding encoding;
  bool sends_files = false;
};

inline std::vector<EncodingWay> encoding_ways() {
  return {{"default_format", {}},
          {"json", {.output_format = "json"}},
          {"json_none", {.output_format = "json", .gpu_transport = "none", .compression = "none"}},
          {"base64", {.output_format = "json+base64"}},
          {"base64_lz4", {.output_format = "json+base64", .compression = "lz4"}},
          {"binref", {.output_format = "json+binref"}},
          {"binref_lz4", {.output_format = "json+binref", .compression = "lz4"}},
          {"binref_both_ways", {.output_format = "json+binref"}, true}};
}

/// Six numbers of any dtype that all formats keep: the first bytes of each are 0 and 1 by turns.
inline Array two_by_three(DType dtype) {
  Array array = Array::zeros(dtype, {2, 3});
  const std::size_t item_bytes = array.size_bytes() / 6;
  for (std::size_t i = 0; i < 6; i += 2) {
    array.mutable_bytes()[i * item_bytes] = std::byte{1};
  }
  return array;
}

/// int32: -5, -4, …
inline Array counting_up(const Shape& shape) {
  Array array = Array::zeros(DType::kInt32, shape);
  std::int32_t next = -5;
  for (std::int32_t& value : array.mutable_values<std::int32_t>()) {
    value = next++;
  }
  return array;
}

/// Empty ones, one without an axis, and long ones.
inline std::vector<Shape> odd_shapes() {
  return {Shape{}, Shape{0}, Shape{2, 0, 3}, Shape{1}, Shape{4, 1, 2, 1, 3}};
}

/// A million numbers of int16: 0 to 999, again and again.
inline Array million_numbers() {
  Array array = Array::allocate(DType::kInt16, {1'000'000});
  std::int16_t next = 0;
  for (std::int16_t& value : array.mutable_values<std::int16_t>()) {
    value = static_cast<std::int16_t>(next++ % 1000);
  }
  return array;
}

}  // namespace tessera::testing
