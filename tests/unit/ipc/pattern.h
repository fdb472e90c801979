// Bytes that tell whose they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/array/array.h"

namespace tessera {

inline std::vector<std::byte> pattern(std::size_t size_bytes, unsigned seed) {
  std::vector<std::byte> bytes(size_bytes);
  for (std::size_t i = 0; i != size_bytes; ++i) {
    bytes[i] = static_cast<std::byte>((i * 31 + i / 256 + std::size_t{seed} * 77 + 1) & 0xFFU);
  }
  return bytes;
}

/// A uint8 array on the host.
inline Array pattern_array(std::size_t size_bytes, unsigned seed) {
  const std::vector<std::byte> bytes = pattern(size_bytes, seed);
  return Array::copy_of(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()),
                        Shape{static_cast<std::int64_t>(size_bytes)});
}

}  // namespace tessera
