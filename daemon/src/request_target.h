// The target of a request line, `/apply?run_id=j1`: its path and its query, percent-decoded.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// A target in its two parts, as sent. Borrows the target. A plain value.
struct RequestTarget {
  std::string_view path;   ///< of an absolute target (`http://host/apply`) too
  std::string_view query;  ///< without the question mark
};
[[nodiscard]] RequestTarget split_target(std::string_view target);

/// Whether a request may have this target (RFC 9112 section 3.2): a path, the same behind `http://` and a host, or `*`
/// for OPTIONS. Not `host:port`: this is no proxy.
[[nodiscard]] bool is_request_target(std::string_view method, std::string_view target);
/// The host, with its port, of an absolute target; nothing for others. It counts in place of the Host header.
[[nodiscard]] std::optional<std::string_view> host_of_target(std::string_view target);

/// Resolves `%41`; what is no such triple stays as it is.
[[nodiscard]] std::string percent_decoded(std::string_view text);

/// The value of a query parameter, `+` read as a space; of several the last one. Bytes that are not
/// UTF-8 become U+FFFD. Names are compared exactly.
[[nodiscard]] std::optional<std::string> find_parameter(std::string_view query, std::string_view name);

}  // namespace tessera
