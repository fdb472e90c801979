#include "request_target.h"

#include <algorithm>

#include "host.h"
#include "tessera/base/ascii.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

constexpr std::string_view kScheme = "http://";

// Schemes have no case (RFC 3986 section 3.1).
bool is_absolute(std::string_view target) {
  return !target.starts_with('/') && lower_case(target.substr(0, kScheme.size())) == kScheme;
}

std::string form_decoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return replaced_utf8(percent_decoded(spaced));
}

}  // namespace

RequestTarget split_target(std::string_view target) {
  const bool has_host = is_absolute(target);
  if (has_host) {
    target.remove_prefix(std::min(target.find_first_of("/?", kScheme.size()), target.size()));
  }
  const std::size_t mark = std::min(target.find('?'), target.size());
  const std::string_view path = target.substr(0, mark);
  return {path.empty() && has_host ? std::string_view("/") : path, target.substr(std::min(mark + 1, target.size()))};
}

bool is_request_target(std::string_view method, std::string_view target) {
  if (const std::optional<std::string_view> host = host_of_target(target)) {
    return !host->empty() && host->front() != ':' && is_host(*host);
  }
  return target.starts_with('/') || (target == "*" && method == "OPTIONS");
}

std::optional<std::string_view> host_of_target(std::string_view target) {
  if (!is_absolute(target)) {
    return std::nullopt;
  }
  target.remove_prefix(kScheme.size());
  return target.substr(0, target.find_first_of("/?"));
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
