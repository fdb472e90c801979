// LZ4 frames (PROTOCOL.md section 5.4), by liblz4.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "tessera/array/buffer.h"
#include "tessera/base/result.h"

namespace tessera {

/// Compresses into one frame with the content size in its header (none for no bytes: the 11-byte frame of upstream).
/// Up to 64 KiB as upstream: 64 KiB independent blocks; above, 4 MiB independent blocks, 2.3x faster and readable by
/// all. The result keeps a block of the worst case's size alive. Throws std::bad_alloc. Safe to call from any thread,
/// like the others here.
[[nodiscard]] Buffer lz4_compress(std::span<const std::byte> bytes);

/// The number of bytes that a frame announces in its header; nothing if it is no frame, or does not say (no bytes,
/// too). Throws std::bad_alloc.
[[nodiscard]] std::optional<std::uint64_t> lz4_content_size(std::span<const std::byte> frame);

/// Decompresses one frame that must fill `frame` and give exactly `into.size()` bytes; any block size, linking,
/// checksums, with or without content size. Never writes more than `into` holds. Errors: kInvalidArgument, with the
/// numbers. Throws std::bad_alloc.
[[nodiscard]] Status lz4_decompress(std::span<const std::byte> frame, std::span<std::byte> into);

}  // namespace tessera
