#include "server_address.h"

#include <sys/un.h>

#include <algorithm>
#include <span>

#include "tessera/array/base64.h"
#include "tessera/base/ascii.h"
#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

[[noreturn]] void refuse_url(std::string_view url, std::string_view why) {
  // Credentials stay out of texts that end in logs.
  std::string shown(url.substr(0, url.find("://") == std::string_view::npos ? 0 : url.find("://") + 3));
  const std::string_view rest = url.substr(shown.size());
  const std::size_t at = rest.substr(0, rest.find('/')).rfind('@');
  shown += rest.substr(at == std::string_view::npos ? 0 : at + 1);
  std::ranges::replace_if(shown, [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; }, '?');
  throw ClientError(ClientError::Kind::kInvalidArgument, "cannot connect to '" + shown + "': " + std::string(why));
}

std::string percent_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      decoded.push_back(static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2])));
      i += 2;
    } else {
      decoded.push_back(text[i]);
    }
  }
  return decoded;
}

std::string basic_authorization(std::string_view credentials) {
  const std::string plain = percent_decoded(credentials);
  const auto bytes = std::as_bytes(std::span(plain));
  std::string value = "Basic " + std::string(base64_length(bytes.size()), '\0');
  base64_encode(bytes, value.data() + 6);
  return value;
}

// What stands behind host and port, or behind the socket's path.
std::string prefix_of(std::string_view url, std::string_view path) {
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  if (!path.empty() && !path.starts_with('/')) {
    refuse_url(url, "a path begins with '/'");
  }
  if (std::ranges::any_of(path, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; })) {
    refuse_url(url, "it holds a space or a control character");
  }
  return std::string(path);
}

ServerAddress unix_address(std::string_view url, std::string_view rest) {
  // The path of a socket may hold a colon, but not one with a slash behind it.
  const std::size_t colon = rest.find(":/");
  const std::string_view socket = rest.substr(0, colon);
  if (socket.empty()) {
    refuse_url(url, "it names no socket: unix:/path/of.sock, or unix:/path/of.sock:/name");
  }
  if (socket.find('\0') != std::string_view::npos) {
    refuse_url(url, "the path of a socket holds no NUL");
  }
  if (socket.size() >= sizeof(sockaddr_un::sun_path)) {
    refuse_url(url, "the path of a socket has " + std::to_string(sizeof(sockaddr_un::sun_path) - 1) +
                        " bytes at most, this one has " + std::to_string(socket.size()));
  }
  ServerAddress address;
  address.unix_path = socket;
  address.prefix = prefix_of(url, colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1));
  address.host_header = "localhost";
  address.text = "unix:" + address.unix_path + (address.prefix.empty() ? "" : ":" + address.prefix);
  return address;
}

void set_host_and_port(ServerAddress& address, std::string_view url, std::string_view authority) {
  std::string_view port;
  if (authority.starts_with('[')) {
    const std::size_t bracket = authority.find(']');
    if (bracket == std::string_view::npos) {
      refuse_url(url, "a bracket is not closed");
    }
    address.host = authority.substr(1, bracket - 1);
    port = authority.substr(bracket + 1);
    if (!port.empty() && !port.starts_with(':')) {
      refuse_url(url, "something stands between the bracket and the port");
    }
  } else {
    const std::size_t colon = authority.find(':');
    address.host = authority.substr(0, colon);
    port = colon == std::string_view::npos ? std::string_view() : authority.substr(colon);
  }
  if (!port.empty()) {
    port.remove_prefix(1);
  }
  if (address.host.empty()) {
    refuse_url(url, "it names no host");
  }
  const bool is_number = std::ranges::all_of(port, is_digit) && port.size() <= 5;
  if (!is_number || (!port.empty() && std::stoi(std::string(port)) > 65535)) {
    refuse_url(url, "'" + std::string(port) + "' is not a port");
  }
  address.port = port.empty() ? "80" : std::string(port);
  address.host_header = authority;
}

}  // namespace

ServerAddress ServerAddress::parse(std::string_view url) {
  std::string_view rest = url.substr(0, url.find_first_of("?#"));
  if (rest.starts_with("unix:")) {
    return unix_address(url, rest.substr(5));
  }
  const std::size_t scheme_end = rest.find("://");
  if (scheme_end != std::string_view::npos) {
    const std::string scheme = lower_case(rest.substr(0, scheme_end));
    if (scheme == "https") {
      refuse_url(url, "TLS is not spoken here; use http:// behind a proxy, or a Unix socket (unix:/path/of.sock)");
    }
    if (scheme != "http") {
      refuse_url(url, "'" + scheme + "' is none of http and unix");
    }
    rest.remove_prefix(scheme_end + 3);
  }
  const std::size_t path_begin = std::min(rest.find('/'), rest.size());
  std::string_view authority = rest.substr(0, path_begin);
  ServerAddress address;
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    address.authorization = basic_authorization(authority.substr(0, at));
    authority.remove_prefix(at + 1);
  }
  address.prefix = prefix_of(url, rest.substr(path_begin));
  prefix_of(url, "/" + std::string(authority));  // the same characters are wrong in it
  set_host_and_port(address, url, authority);
  address.text = "http://" + std::string(authority) + address.prefix;
  return address;
}

void append_query_value(std::string& target, std::string_view value) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == '~') {
      target.push_back(c);
    } else {
      target.push_back('%');
      target.push_back(kHex[byte >> 4U]);
      target.push_back(kHex[byte & 15U]);
    }
  }
}

}  // namespace tessera
