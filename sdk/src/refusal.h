// Makes errors of responses that are no success (PROTOCOL.md section 7).
#pragma once

#include <string_view>

#include "http_message.h"
#include "tessera/sdk/client_error.h"

namespace tessera {

/// What the response to a call of `endpoint` stands for: an error of kRefused for a 422 with a list, else of kStatus
/// with the server's text.
[[nodiscard]] ClientError refusal_of(std::string_view endpoint, const HttpResponse& response);
/// Throws it.
[[noreturn]] void throw_refusal(std::string_view endpoint, const HttpResponse& response);

}  // namespace tessera
