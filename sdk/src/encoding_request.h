// Which encoding to ask a server for: what it accepts, and the Accept header (PROTOCOL.md sections 9.3 and 10.2).
#pragma once

#include <optional>
#include <string>

#include "tessera/sdk/client_options.h"

namespace tessera {

/// `base` with the fields that `overrides` sets.
[[nodiscard]] RequestedEncoding merged(const RequestedEncoding& base, const RequestedEncoding& overrides);

/// Checks an encoding against what the server states; returns the one to ask for, without what an old server cannot
/// read but does anyway. Throws ClientError (kInvalidArgument).
[[nodiscard]] RequestedEncoding fit_to_server(RequestedEncoding encoding, const ServerCapabilities& capabilities);

/// The value of `Accept`; nothing if there is no wish.
[[nodiscard]] std::optional<std::string> accept_header(const RequestedEncoding& encoding);

}  // namespace tessera
