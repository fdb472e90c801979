// Writes the head of an HTTP response, and the answers that a connection gives by itself.
#pragma once

#include <string>
#include <string_view>

#include "request.h"
#include "tessera/base/clock.h"

namespace tessera {

/// What a response says about its connection.
enum class ConnectionNote {
  kNone,       ///< it is kept, as HTTP/1.1 has it
  kKeepAlive,  ///< it is kept, said aloud to a client of HTTP/1.0
  kClose,
};

/// Appends status line and headers, with Content-Length (PROTOCOL.md section 2) and the empty line.
void append_head(std::string& text, const Response& response, std::string_view request_id, ConnectionNote note,
                 Clock::WallTime now);

/// Whether a response of this status has neither a body nor a length.
[[nodiscard]] bool is_bodiless(int status);

/// `{"detail":"…"}`, after which the connection is closed; with 503 the client is to come again in a second. `detail`
/// needs no escaping.
[[nodiscard]] Response make_refusal(int status, std::string_view detail);
/// The 400 for what is not HTTP (PROTOCOL.md section 1).
[[nodiscard]] Response make_bad_request();
/// The 500 for what should never happen.
[[nodiscard]] Response make_internal_error();

}  // namespace tessera
