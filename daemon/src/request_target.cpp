#include "request_target.h"

#include <algorithm>

#include "tessera/base/ascii.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

std::string form_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return replaced_utf8(percent_decoded(spaced));
}

}  // namespace

RequestTarget split_target(std::string_view target) {
  constexpr std::string_view kScheme = "http://";
  if (target.starts_with(kScheme)) {
    const std::size_t slash = target.find('/', kScheme.size());
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  const std::size_t mark = target.find('?');
  if (mark == std::string_view::npos) {
    return {target, {}};
  }
  return {target.substr(0, mark), target.substr(mark + 1)};
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const int high = text[i] == '%' && i + 2 < text.size() ? hex_digit(text[i + 1]) : -1;
    const int low = high < 0 ? -1 : hex_digit(text[i + 2]);
    if (low < 0) {
      decoded += text[i];
    } else {
      decoded += static_cast<char>(high * 16 + low);
      i += 2;
    }
  }
  return decoded;
}

std::optional<std::string> find_parameter(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  while (!query.empty()) {
    const std::size_t end = query.find('&');
    const std::string_view part = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view() : query.substr(end + 1);
    const std::size_t equals = part.find('=');
    if (form_decoded(part.substr(0, equals)) == name) {
      found = equals == std::string_view::npos ? std::string() : form_decoded(part.substr(equals + 1));
    }
  }
  return found;
}

}  // namespace tessera
