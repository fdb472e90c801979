// The parts of the base64 codec: vector loops that do as much as they can, and table loops that do all of it.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tessera {

/// Whether this processor has what the vector loops need.
[[nodiscard]] bool can_base64_avx2();

/// Encodes whole groups of three bytes from the front; returns how many bytes it took (a multiple of 3). Writes only
/// their characters, reads only `bytes`. Requires: can_base64_avx2().
[[nodiscard]] std::size_t base64_encode_avx2(std::span<const std::byte> bytes, char* into);

/// Decodes whole groups of four characters from the front; returns how many it took (a multiple of 4): it stops before
/// a block that holds a fault or padding, and where less than a block of `into` is left. Requires: can_base64_avx2(),
/// and room in `into` for what `text` decodes to.
[[nodiscard]] std::size_t base64_decode_avx2(std::string_view text, std::span<std::byte> into);

}  // namespace tessera
