// What the connections of a server share.
#pragma once

#include <atomic>
#include <cstdint>

#include "bodies_budget.h"
#include "connection_table.h"
#include "server_load.h"
#include "service.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/daemon/daemon.h"
#include "worker_slots.h"

namespace tessera {

/// A connection that never sent anything may wait this many times as long as one that is idle between requests.
/// Upstream lets it wait for ever (PROTOCOL.md section 1).
inline constexpr int kFirstRequestPatience = 4;

/// Bodies above this are decoded and encoded under a codec slot, as is what waits for a GPU.
inline constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20;

/// All of it is safe to use from any thread, and outlives the connections.
struct SessionEnvironment {
  const DaemonOptions& options;
  Service& service;
  Logger& logger;
  const Clock& clock;
  WorkerSlots& call_slots;   ///< endpoint calls that run
  WorkerSlots& codec_slots;  ///< threads that decode or encode more than kLargeBytes, or wait for a GPU
  ConnectionTable& connections;
  BodiesBudget& bodies;
  std::atomic<unsigned>& busy_pollers;  ///< threads that look for what comes next without sleeping
  std::atomic<bool>& is_stopping;
  const LoadSource& load;
};

}  // namespace tessera
