#include "gpu_exchange.h"

#include <chrono>
#include <string>
#include <utility>

#include "container_hints.h"

namespace tessera {
namespace {

constexpr std::chrono::seconds kTrimInterval{5};

// Three quarters, so that calls have memory to work with. Without a GPU nothing is lent, and nothing is refused.
std::uint64_t default_export_limit(const GpuSystem& gpus) {
  std::uint64_t bytes = 0;
  for (const auto& gpu : gpus.gpus()) {
    bytes += gpu->memory_bytes();
  }
  return bytes == 0 ? UINT64_MAX : bytes / 4 * 3;
}

}  // namespace

GpuExchange::GpuExchange(const DaemonOptions& options, Logger& logger, const Clock& clock)

    : options_(options),
      logger_(logger),
      clock_(clock),
      closer_(std::make_shared<ClosingThread>()),
      export_limit_bytes_(find_export_limit()),
      registry_({.lifetime = options.exports_timeout, .limit_bytes = export_limit_bytes_}, clock) {
  if (options_.config.gpu_transport != "none") {
    start_transport();
  }
}

std::uint64_t GpuExchange::find_export_limit() {
  if (options_.export_bytes || options_.config.gpu_transport == "none") {
    return options_.export_bytes.value_or(UINT64_MAX);
  }
  return default_export_limit(*gpus());
}

GpuExchange::~GpuExchange() {
  reaper_.reset();
  const std::size_t ended = registry_.drain();
  if (ended > 0) {
    logger_.info("dropped exports that no client had named done", {{"leases", static_cast<std::int64_t>(ended)}});
  }
  // By us, as the last to know of it may be what it drops.
  closer_->stop();
}

void GpuExchange::start_transport() {
  lent_gpus_ = gpus();
  transport_ = make_cuda_ipc(gpus());
  log_viability();
  reaper_ = std::make_unique<Reaper>(registry_, clock_, [this](std::size_t leases) {
    logger_.warning("gave up exports that were not named done in time",
                    {{"leases", static_cast<std::int64_t>(leases)},
                     {"seconds", static_cast<std::int64_t>(options_.exports_timeout.count())}});
  });
  trimmer_ = std::jthread([this](const std::stop_token& stop) { trim_until_stopped(stop); });
}

void GpuExchange::log_viability() {
  if (const std::optional<TransportProblem> problem = transport_->problem()) {
    logger_.warning(
        "the GPU transport is offered, but cannot work here",
        {{"gpu_transport", transport_->name()}, {"reason", name_of(problem->reason)}, {"why", problem->sentence}});
  } else {
    for (const auto& gpu : gpus()->gpus()) {
      logger_.info("GPU arrays can be exchanged", {{"gpu_transport", transport_->name()},
                                                   {"gpu", gpu->uuid().text()},
                                                   {"name", gpu->name()},
                                                   {"bytes", static_cast<std::int64_t>(gpu->memory_bytes())}});
    }
  }
  for (const std::string& hint : container_hints(!gpus()->gpus().empty())) {
    logger_.warning("GPU memory may not be shareable with clients outside", {{"why", hint}});
  }
}

std::shared_ptr<GpuSystem> GpuExchange::gpus() {
  const MutexLock lock(mutex_);
  if (!gpus_) {
    GpuSystem::Options options;
    options.driver_library = options_.cuda_library;
    options.pool_fraction = options_.config.cuda_ipc_pool_fraction;
    options.closer = closer_;
    // Who wants no idle buffers of ours wants to give back those of clients at once, too.
    if (options.pool_fraction == 0) {
      options.idle_mapping_bytes = 0;
    }
    gpus_ = GpuSystem::open(options, clock_);
  }
  return gpus_;
}

void GpuExchange::release_named(std::string_view header) {
  if (transport_ && !header.empty()) {
    registry_.release_named(header);
  }
}

void GpuExchange::supersede() {
  if (transport_) {
    registry_.supersede();
  }
}

bool GpuExchange::has_room() const {
  const RegistryStats stats = registry_.stats();
  return stats.bytes + stats.reserved_bytes < export_limit_bytes_;
}

bool GpuExchange::make_room_after_exhaustion(bool is_acknowledging) {
  if (registry_.stats().leases == 0) {
    return false;
  }
  if (!is_acknowledging) {
    supersede();
  }
  return true;
}

Result<Array> GpuExchange::to_host(const Array& array) {
  if (options_.config.forbid_device_host_copy) {
    return host_copy_forbidden();
  }
  host_copies_.fetch_add(1, std::memory_order_relaxed);
  host_copy_bytes_.fetch_add(array.size_bytes(), std::memory_order_relaxed);
  return array.to_host();
}

void GpuExchange::trim_until_stopped(const std::stop_token& stop) {
  std::unique_lock lock(trim_mutex_);
  while (!stop.stop_requested()) {
    trim_wake_.wait_for(lock, stop, kTrimInterval, [] { return false; });
    gpus()->trim();
  }
}

}  // namespace tessera
