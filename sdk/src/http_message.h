// What goes to a server and comes back, without its meaning.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/array/body.h"
#include "tessera/array/buffer.h"
#include "tessera/array/early_base64.h"

namespace tessera {

/// One request. A plain value, but that `body` must outlive the exchange.
struct HttpRequest {
  std::string_view method;  ///< "GET", "POST"
  std::string target;       ///< behind the address's prefix: "/apply?run_id=1"
  std::vector<std::pair<std::string_view, std::string>> headers;
  const Body* body = nullptr;  ///< JSON
  /// The server does the same thing if it is done twice.
  bool is_repeatable = false;
};

/// One response, complete. A plain value.
struct HttpResponse {
  int status = 0;
  std::optional<std::string> location;
  std::optional<std::string> exports;  ///< `Tesseract-Exports`
  std::optional<std::string> retry_after;
  Buffer buffer;  ///< holds the body, and may be larger
  std::size_t size_bytes = 0;
  std::optional<EarlyBase64> early;  ///< followed the body as it arrived
  bool is_last = false;              ///< the connection ends with it

  [[nodiscard]] std::string_view text() const { return {reinterpret_cast<const char*>(buffer.data()), size_bytes}; }
};

}  // namespace tessera
