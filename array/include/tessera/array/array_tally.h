// Bytes of arrays by the encoding in which they travelled: for those who watch a server.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tessera {

/// How an array was written (PROTOCOL.md section 5).
enum class ArrayEncoding { kJson, kBase64, kBase64Lz4, kBinref, kBinrefLz4, kCudaIpc };
inline constexpr std::size_t kArrayEncodingCount = 6;

/// "json", "base64", "base64+lz4", "binref", "binref+lz4", "cuda_ipc".
[[nodiscard]] std::string_view name_of(ArrayEncoding encoding);

/// What the arrays of one body hold, as they are in memory. A plain value.
struct ArrayTally {
  void add(ArrayEncoding encoding, std::uint64_t size_bytes) {
    bytes[static_cast<std::size_t>(encoding)] += size_bytes;
  }
  [[nodiscard]] std::uint64_t of(ArrayEncoding encoding) const { return bytes[static_cast<std::size_t>(encoding)]; }

  std::array<std::uint64_t, kArrayEncodingCount> bytes{};
  bool is_over_limit = false;  ///< one was refused for its size
};

}  // namespace tessera
