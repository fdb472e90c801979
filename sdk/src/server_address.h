// Where a server is, read from a URL (PROTOCOL.md section 10.1).
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// A plain value.
struct ServerAddress {
  std::string host;           ///< without brackets; empty for a Unix socket
  std::string port;           ///< digits, or a name of a service
  std::string unix_path;      ///< of the socket; empty for TCP
  std::string prefix;         ///< of every target: empty, or `/name` without a slash behind it
  std::string host_header;    ///< value of `Host`
  std::string authorization;  ///< value of `Authorization`; empty without one
  std::string text;           ///< for people: without credentials, query, fragment, and slashes at the end

  /// Throws ClientError (kInvalidArgument) that names the URL.
  [[nodiscard]] static ServerAddress parse(std::string_view url);
};

/// Appends text with everything percent-encoded that may not stand in a value of a query.
void append_query_value(std::string& target, std::string_view value);

}  // namespace tessera
