// The answers that are the same for every Tesseract: refusals, failures, documents (PROTOCOL.md section 7.1).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "request.h"
#include "router.h"
#include "tessera/tesseract/endpoint_error.h"

namespace tessera {

/// An answer whose body is JSON.
[[nodiscard]] Response json_answer(int status, std::string json);
/// An answer of another type.
[[nodiscard]] Response text_answer(int status, std::string content_type, std::string text);
/// `{"detail":"…"}`.
[[nodiscard]] Response detail_answer(int status, std::string_view detail);

/// 405, with the methods that the route takes.
[[nodiscard]] Response method_not_allowed(std::string_view allow);
/// 307 to the path without its trailing slash, on the host that the client named.
[[nodiscard]] Response redirect_answer(const Request& request, std::string_view path);
/// 400 for a body that cannot be read as text, or is nested too deep.
[[nodiscard]] Response unreadable_body();
/// 422 for a body that is there, but not called JSON by its Content-Type; nothing for others.
[[nodiscard]] std::optional<Response> refuse_content_type(const Request& request);
/// 422 for a run_id that names no folder of its own; `why` is a sentence.
[[nodiscard]] Response bad_run_id(std::string_view run_id, std::string_view why);

/// The answer for a call that failed: the status that the endpoint asked for, or 500; its text only with `debug`, as a
/// page if `accept` holds text/html.
[[nodiscard]] Response failure_answer(const EndpointFailure& failure, std::string_view where, bool debug,
                                      std::optional<std::string_view> accept);

}  // namespace tessera
