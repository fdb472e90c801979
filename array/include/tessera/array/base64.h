// Base64 in the standard alphabet with padding: AVX2 where the processor has it, chosen at run time, else scalar.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tessera {

/// Characters that `size_bytes` bytes become. Requires: size_bytes below three quarters of the largest std::size_t.
[[nodiscard]] constexpr std::size_t base64_length(std::size_t size_bytes) {
  return (size_bytes + 2) / 3 * 4;
}

/// Bytes that text of this length and end decodes to ("": 0); nothing if its length is no multiple of four. Other
/// faults, of padding too, are found by base64_decode().
[[nodiscard]] std::optional<std::size_t> base64_decoded_size(std::string_view text);

/// Encodes; writes base64_length(bytes.size()) characters and no NUL. Requires: room for them at `into`. Safe to call
/// from any thread.
void base64_encode(std::span<const std::byte> bytes, char* into);

/// Decodes strictly: no line breaks, spaces or `-_`, exact padding, no bits left over (PROTOCOL.md sections 5.2 and
/// 17). Returns false at the first fault; `into` then holds anything. Requires: into.size() ==
/// *base64_decoded_size(text). Safe to call from any thread.
[[nodiscard]] bool base64_decode(std::string_view text, std::span<std::byte> into);

/// The same without AVX2, for tests and benchmarks to compare with: same requirements, same results.
void base64_encode_scalar(std::span<const std::byte> bytes, char* into);
[[nodiscard]] bool base64_decode_scalar(std::string_view text, std::span<std::byte> into);

}  // namespace tessera
