// One connection from its first request to its end.
#pragma once

#include <boost/asio/io_context.hpp>
#include <utility>  // Boost 1.74 needs it first.

#include "session_environment.h"
#include "tessera/base/unique_fd.h"

namespace tessera {

/// Serves a connected, not blocking socket on the threads that run `io` until either side closes it. The environment
/// outlives `io`. Throws std::bad_alloc, boost::system::system_error.
void serve_connection(boost::asio::io_context& io, SessionEnvironment& environment, UniqueFd socket);

}  // namespace tessera
