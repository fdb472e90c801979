#include "request_id.h"

#include <algorithm>

#include "tessera/base/ascii.h"
#include "tessera/base/random_id.h"

namespace tessera {
namespace {

constexpr std::size_t kMaxIdBytes = 128;

bool is_id_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("-_.:/+=@,;~").find(c) != std::string_view::npos;
}

}  // namespace

bool is_request_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdBytes && std::ranges::all_of(text, is_id_character);
}

std::string_view RequestId::make() {
  RandomId::make().write_hex(text_);
  return {text_.data(), text_.size()};
}

}  // namespace tessera
