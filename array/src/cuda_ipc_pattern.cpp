#include "cuda_ipc_pattern.h"

#include <algorithm>
#include <cstddef>

#include "tessera/base/ascii.h"

namespace tessera {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kUuid = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

// Takes the characters of `set` off the front; returns how many they were.
std::size_t take(std::string_view& text, std::string_view set) {
  const std::size_t count = std::min(text.find_first_not_of(set), text.size());
  text.remove_prefix(count);
  return count;
}

bool take_colon(std::string_view& text) {
  const bool is_colon = !text.empty() && text[0] == ':';
  text.remove_prefix(is_colon ? 1 : 0);
  return is_colon;
}

bool is_uuid(std::string_view text) {
  return std::ranges::equal(text, kUuid, [](char character, char pattern) {
    return pattern == '-' ? character == '-' : is_digit(character) || (character >= 'a' && character <= 'f');
  });
}

}  // namespace

bool is_cuda_ipc_buffer(std::string_view text) {
  constexpr std::string_view kBase64Characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
  if (!is_uuid(text.substr(0, kUuid.size()))) {
    return false;
  }
  text.remove_prefix(kUuid.size());
  if (!take_colon(text)) {
    return false;
  }
  take(text, kBase64Characters);
  return take_colon(text) && take(text, kDigits) != 0 && take_colon(text) && take(text, kDigits) != 0 && text.empty();
}

}  // namespace tessera
