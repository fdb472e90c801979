#include "python_decoding.h"

#include "tessera/base/utf8.h"

namespace tessera {

bool is_surrogate_at(std::string_view bytes, std::size_t at) {
  return at + 3 <= bytes.size() && bytes[at] == '\xED' && (static_cast<unsigned char>(bytes[at + 1]) & 0xE0U) == 0xA0 &&
         (static_cast<unsigned char>(bytes[at + 2]) & 0xC0U) == 0x80;
}

bool is_python_decodable(std::string_view bytes) {
  if (is_utf8(bytes)) {
    return true;
  }
  // 0xED only begins characters, so the text can be cut around surrogates.
  std::size_t begin = 0;
  for (std::size_t at = bytes.find('\xED'); at != std::string_view::npos;) {
    if (is_surrogate_at(bytes, at)) {
      if (!is_utf8(bytes.substr(begin, at - begin))) {
        return false;
      }
      begin = at + 3;
      at = bytes.find('\xED', begin);
    } else {
      at = bytes.find('\xED', at + 1);
    }
  }
  return begin != 0 && is_utf8(bytes.substr(begin));
}

}  // namespace tessera
