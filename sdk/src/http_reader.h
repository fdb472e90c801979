// Reads one HTTP/1.1 response from a connection.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "call_limits.h"
#include "client_socket.h"
#include "http_message.h"

namespace tessera {

/// Called with bytes done and bytes in all (0: not known).
using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

/// Reads one response; interim ones (1xx) are passed over. With `wants_arrays` its text may come folded, if it is no
/// error. Nothing if the connection ends before its first byte. Throws ClientError: kBadResponse if it is no response,
/// breaks off, is longer than `max_bytes`, or encoded although nobody asked for that; kTimeout, kCancelled.
[[nodiscard]] std::optional<HttpResponse> read_response(ClientSocket& socket, const CallLimits& limits,
                                                        std::uint64_t max_bytes, bool wants_arrays,
                                                        const Progress& progress);

}  // namespace tessera
