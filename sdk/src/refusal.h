// Makes errors of responses that are no success (PROTOCOL.md section 7).
#pragma once

#include <string_view>

#include "http_message.h"

namespace tessera {

/// Throws what the response to a call of `endpoint` stands for: ClientError of kRefused for a 422 with a list, else
/// of kStatus with the server's text.
[[noreturn]] void throw_refusal(std::string_view endpoint, const HttpResponse& response);

}  // namespace tessera
