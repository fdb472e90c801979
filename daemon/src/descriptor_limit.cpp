#include "descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "connection_table.h"

namespace tessera {
namespace {

// Of the daemon itself, of libraries, of modules.
constexpr std::size_t kOthers = 64;
// A call's log, metrics, array file, capture; some for what its endpoint opens.
constexpr std::size_t kForEachCall = 16;

}  // namespace

std::size_t raise_descriptor_limit() {
  ::rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return std::numeric_limits<std::size_t>::max();
  }
  const ::rlim_t before = limit.rlim_cur;
  if (limit.rlim_cur != limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
      limit.rlim_cur = before;
    }
  }
  return limit.rlim_cur == RLIM_INFINITY ? std::numeric_limits<std::size_t>::max()
                                         : static_cast<std::size_t>(limit.rlim_cur);
}

std::size_t connections_within(std::size_t descriptors, const DaemonOptions& options) {
  const std::size_t wanted =
      kOthers + ConnectionTable::kRefusedAtOnce + kForEachCall * std::min(options.workers, 4096U);
  // With very few, all of it must make do with its share.
  const std::size_t reserve = std::min(wanted, descriptors - descriptors / 4);
  return std::clamp<std::size_t>(descriptors - reserve, 1, std::max<std::size_t>(options.connections, 1));
}

DaemonOptions fit_to_descriptors(DaemonOptions options, Logger& logger) {
  const std::size_t descriptors = raise_descriptor_limit();
  const std::size_t connections = connections_within(descriptors, options);
  if (connections < options.connections) {
    logger.warning("descriptors do not suffice for so many connections",
                   {{"wanted", static_cast<std::int64_t>(options.connections)},
                    {"connections", static_cast<std::int64_t>(connections)},
                    {"descriptors", static_cast<std::int64_t>(descriptors)}});
    options.connections = connections;
  }
  return options;
}

}  // namespace tessera
