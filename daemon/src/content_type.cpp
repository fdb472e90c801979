#include "content_type.h"

#include <algorithm>
#include <functional>

namespace tessera {
namespace {

char to_lower(char character) {
  return character >= 'A' && character <= 'Z' ? static_cast<char>(character - 'A' + 'a') : character;
}

bool equals(std::string_view text, std::string_view lower) {
  return std::ranges::equal(text, lower, std::equal_to<>(), to_lower);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n\f\v";
  const std::size_t first = text.find_first_not_of(kSpaces);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

}  // namespace

bool is_called_json(std::optional<std::string_view> content_type) {
  if (!content_type) {
    return false;
  }
  const std::string_view type = trim(content_type->substr(0, content_type->find(';')));
  const std::size_t slash = type.find('/');
  if (slash == std::string_view::npos || !equals(type.substr(0, slash), "application")) {
    return false;
  }
  const std::string_view subtype = type.substr(slash + 1);
  if (subtype.find('/') != std::string_view::npos) {
    return false;
  }
  constexpr std::string_view kSuffix = "+json";
  return equals(subtype, "json") ||
         (subtype.size() >= kSuffix.size() && equals(subtype.substr(subtype.size() - kSuffix.size()), kSuffix));
}

}  // namespace tessera
