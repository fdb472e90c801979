// Sends a response: small ones in one write, large ones piece by piece, encoded as they go.
#pragma once

#include "connection.h"
#include "request.h"
#include "request_head.h"
#include "session_environment.h"
#include "task.h"

namespace tessera {

/// Sends `response`, and notes it in `report`, whose encoding began when its last part ended. `head` is that of its
/// request, if it had a good one; without, and when the server stops, the connection is closed. Returns whether it is
/// kept. The references outlive the task.
[[nodiscard]] Task<bool> send_response(Connection& connection, const SessionEnvironment& environment,
                                       const RequestHead* head, Response response, RequestReport& report);

}  // namespace tessera
