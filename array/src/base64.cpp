#include "tessera/array/base64.h"

#include "base64_codec.h"

namespace tessera {

std::optional<std::size_t> base64_decoded_size(std::string_view text) {
  if (text.size() % 4 != 0) {
    return std::nullopt;
  }
  std::size_t size = text.size() / 4 * 3;
  if (text.ends_with('=')) {
    size -= text.ends_with("==") ? 2 : 1;
  }
  return size;
}

void base64_encode(std::span<const std::byte> bytes, char* into) {
  const std::size_t done = can_base64_avx2() ? base64_encode_avx2(bytes, into) : 0;
  base64_encode_scalar(bytes.subspan(done), into + done / 3 * 4);
}

bool base64_decode(std::string_view text, std::span<std::byte> into) {
  const std::size_t done = can_base64_avx2() ? base64_decode_avx2(text, into) : 0;
  return base64_decode_scalar(text.substr(done), into.subspan(done / 4 * 3));
}

}  // namespace tessera
