// How many descriptors this process may have, and what is left of them for connections.
#pragma once

#include <cstddef>

#include "tessera/base/log.h"
#include "tessera/daemon/daemon.h"

namespace tessera {

/// Raises the soft limit of descriptors of this process to the hard one. Returns the limit.
std::size_t raise_descriptor_limit();

/// How many connections fit below a limit of descriptors when the others that a daemon needs are left free: for files
/// of calls, for those who are refused, for what is open already. At least 1, at most `options.connections`.
[[nodiscard]] std::size_t connections_within(std::size_t descriptors, const DaemonOptions& options);

/// Raises the limit; returns `options` with as many connections as go, and logs if these are fewer.
[[nodiscard]] DaemonOptions fit_to_descriptors(DaemonOptions options, Logger& logger);

}  // namespace tessera
