// Reads the head of an HTTP request: its end, its request line, and the few headers that anybody here asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "request.h"

namespace tessera {

/// Of the parts of a head; its whole is the caller's.
struct HeadLimits {
  std::size_t request_line_bytes = SIZE_MAX;
  std::size_t header_value_bytes = SIZE_MAX;  ///< of a name, too
  std::size_t headers = SIZE_MAX;             ///< how many
};

/// Finds the end of a head in bytes that arrive piece by piece; looks at each byte once.
class HeadScanner {
 public:
  explicit HeadScanner(const HeadLimits& limits = {}) : limits_(limits) {}

  enum class Found {
    kNothingYet,
    kEnd,  ///< size_bytes() says where
    kBad,  ///< no HTTP: binary, a line that ends without CR, a folded line, no request line
    kLongRequestLine,
    kLongHeader,
    kTooManyHeaders,
  };
  /// `bytes` begins with what was given before.
  [[nodiscard]] Found scan(std::string_view bytes);
  /// The length of the head with the empty line.
  [[nodiscard]] std::size_t size_bytes() const { return line_begin_; }
  /// Whether the request line is complete.
  [[nodiscard]] bool has_request_line() const { return line_begin_ > 0; }

 private:
  [[nodiscard]] Found judge_length(std::string_view line) const;

  HeadLimits limits_;
  std::size_t headers_ = 0;
  std::size_t line_begin_ = 0;
  std::size_t searched_ = 0;
};

/// What a head says. Borrows the bytes that it was read from.
struct RequestHead {
  enum class Framing { kNoBody, kLength, kChunked };

  Request request;  ///< without a body
  Framing framing = Framing::kNoBody;
  std::uint64_t content_length = 0;
  bool is_http_1_0 = false;
  bool keep_alive = true;        ///< the client wants the connection kept
  bool awaits_continue = false;  ///< the client waits for `100 Continue`
};

/// Reads a whole head; nothing if it is not HTTP/1.1 or HTTP/1.0, names no host, two, or none that can be, or leaves
/// the length of its body in doubt (PROTOCOL.md section 1), or has a method with small letters.
[[nodiscard]] std::optional<RequestHead> parse_head(std::string_view head);

}  // namespace tessera
