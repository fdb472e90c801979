// One connection: reads requests, has them answered by the Service, writes the answers.
#pragma once

#include <atomic>

#include "connection_table.h"
#include "service.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/base/unique_fd.h"
#include "tessera/daemon/daemon.h"
#include "worker_slots.h"

namespace boost::asio {
class io_context;
}

namespace tessera {

/// What the connections of a server share. All of it is safe to use from any thread.
struct SessionEnvironment {
  const DaemonOptions& options;
  Service& service;
  Logger& logger;
  const Clock& clock;
  WorkerSlots& call_slots;   ///< endpoint calls that run
  WorkerSlots& codec_slots;  ///< threads that decode or encode more than 1 MiB
  ConnectionTable& connections;
  std::atomic<bool>& is_stopping;
};

/// Serves a connected, not blocking socket on the threads that run `io` until either side closes it. The environment
/// outlives `io`.
void serve_connection(boost::asio::io_context& io, SessionEnvironment& environment, UniqueFd socket);

}  // namespace tessera
