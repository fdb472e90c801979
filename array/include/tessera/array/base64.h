// Base64 in the standard alphabet with padding: AVX2 where the processor has it, chosen at run time, else scalar.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tessera {

/// Characters that `size_bytes` bytes become.
[[nodiscard]] constexpr std::size_t base64_length(std::size_t size_bytes) {
  return (size_bytes + 2) / 3 * 4;
}

/// Bytes that text of this length and end decodes to, or nothing if its length or padding is wrong.
[[nodiscard]] std::optional<std::size_t> base64_decoded_size(std::string_view text);

/// Encodes. Requires: into.size() >= base64_length(bytes.size()). Safe to call from any thread.
void base64_encode(std::span<const std::byte> bytes, char* into);

/// Decodes strictly: no line breaks, spaces or `-_`, exact padding, no bits left over (PROTOCOL.md sections 5.2 and
/// 17). Returns false at the first fault; `into` then holds anything. Requires: into.size() ==
/// *base64_decoded_size(text). Safe to call from any thread.
[[nodiscard]] bool base64_decode(std::string_view text, std::span<std::byte> into);

/// The same codes without AVX2, for tests and benchmarks to compare with.
void base64_encode_scalar(std::span<const std::byte> bytes, char* into);
[[nodiscard]] bool base64_decode_scalar(std::string_view text, std::span<std::byte> into);

}  // namespace tessera
