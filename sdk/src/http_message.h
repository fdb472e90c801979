// What goes to a server and comes back, without its meaning.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/array/arriving_text.h"
#include "tessera/array/body.h"
#include "tessera/array/buffer.h"

namespace tessera {

/// One request. A plain value, but that `body` must outlive the exchange.
struct HttpRequest {
  std::string_view method;  ///< "GET", "POST"
  std::string target;       ///< behind the address's prefix: "/apply?run_id=1"
  std::vector<std::pair<std::string_view, std::string>> headers;
  const Body* body = nullptr;  ///< JSON
  /// The server does the same thing if it is done twice.
  bool is_repeatable = false;
  /// The response holds arrays that will be read: its text may come folded.
  bool wants_arrays = false;
};

/// One response, complete. A plain value.
struct HttpResponse {
  int status = 0;
  std::optional<std::string> location;
  std::optional<std::string> exports;  ///< `Tesseract-Exports`
  std::optional<std::string> retry_after;
  std::optional<ArrivingText> arrived;  ///< a body of announced size
  Buffer buffer;                        ///< holds any other, and may be larger
  std::size_t size_bytes = 0;           ///< of the body, as it was sent
  bool is_last = false;                 ///< the connection ends with it

  [[nodiscard]] std::string_view text() const {
    return arrived ? arrived->text() : std::string_view(reinterpret_cast<const char*>(buffer.data()), size_bytes);
  }
};

}  // namespace tessera
