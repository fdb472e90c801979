#include "host.h"

#include <algorithm>

#include "tessera/base/ascii.h"

namespace tessera {
namespace {

// Of a registered name: unreserved, sub-delims and `%`, whose digits are counted elsewhere.
bool is_name_character(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("-._~!$&'()*+,;=").find(c) != std::string_view::npos;
}

bool is_name(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%') {
      if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) {
        return false;
      }
      i += 2;
    } else if (!is_name_character(text[i])) {
      return false;
    }
  }
  return true;
}

// Some clients send the zone of an address, too.
bool is_address_in_brackets(std::string_view text) {
  return text.size() > 2 && text.front() == '[' && text.back() == ']' &&
         std::ranges::all_of(text.substr(1, text.size() - 2),
                             [](char c) { return c == ':' || c == '%' || is_name_character(c); });
}

}  // namespace

bool is_host(std::string_view text) {
  // The path of a Unix socket, which some clients send for want of a host.
  if (text.starts_with('/')) {
    return std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7F'; });
  }
  const std::size_t bracket = text.find(']');
  const std::size_t colon = text.find(':', bracket == std::string_view::npos ? 0 : bracket);
  const std::string_view host = text.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  return std::ranges::all_of(port, is_digit) && (is_name(host) || is_address_in_brackets(host));
}

}  // namespace tessera
