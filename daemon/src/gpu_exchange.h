// GPU arrays in and out of this daemon: the GPUs, the transport, and what clients have not named done yet.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <string_view>
#include <thread>

#include "closing_thread.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/base/mutex.h"
#include "tessera/daemon/daemon.h"
#include "tessera/export_registry/export_registry.h"
#include "tessera/export_registry/reaper.h"
#include "tessera/ipc/gpu_system.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera {

/// One per service. Without a configured transport it touches no GPU until somebody asks for gpus(). Safe to use from
/// any thread.
class GpuExchange {
 public:
  /// Opens the GPUs if a transport is configured, and says in the log what works and what does not. Copies `options`;
  /// `logger` and `clock` outlive it.
  GpuExchange(const DaemonOptions& options, Logger& logger, const Clock& clock);
  GpuExchange(const GpuExchange&) = delete;
  GpuExchange& operator=(const GpuExchange&) = delete;
  /// Ends all leases.
  ~GpuExchange();

  /// The transport that is configured; nullptr for none.
  [[nodiscard]] GpuTransport* transport() const { return transport_.get(); }
  /// The GPUs; opened by the first call.
  [[nodiscard]] std::shared_ptr<GpuSystem> gpus();
  [[nodiscard]] ExportRegistry& registry() { return registry_; }

  /// Ends the leases that a request names (PROTOCOL.md section 8.1); `header` is the value of Tesseract-Exports-Done.
  void release_named(std::string_view header);
  /// Ends the leases of clients that never name theirs, as a call of another such client does.
  void supersede();

  /// How much clients together may hold.
  [[nodiscard]] std::uint64_t export_limit_bytes() const { return export_limit_bytes_; }
  /// Whether anything more may be kept for clients.
  [[nodiscard]] bool has_room() const;

  /// How often a GPU had no memory left for an array, of the daemon's or of an endpoint's.
  [[nodiscard]] std::uint64_t exhaustions() const { return lent_gpus_ ? lent_gpus_->exhaustions() : 0; }
  /// Whether a GPU that has no memory left may have some later, as clients hold some of it. Ends the leases of clients
  /// that name nothing for one of them (not `is_acknowledging`), so that it is not kept out by its own.
  [[nodiscard]] bool make_room_after_exhaustion(bool is_acknowledging);

  /// A copy in host memory; counted. Errors: of CUDA; kInvalidArgument if host copies are forbidden
  /// (TESSERACT_FORBID_DEVICE_HOST_COPY).
  [[nodiscard]] Result<Array> to_host(const Array& array);
  [[nodiscard]] std::uint64_t host_copies() const { return host_copies_; }
  [[nodiscard]] std::uint64_t host_copy_bytes() const { return host_copy_bytes_; }

 private:
  [[nodiscard]] std::uint64_t find_export_limit();
  void start_transport();
  void log_viability();
  void trim_until_stopped(const std::stop_token& stop);

  const DaemonOptions options_;  // the GPUs may be opened long after the caller's are gone
  Logger& logger_;
  const Clock& clock_;
  const std::shared_ptr<ClosingThread> closer_;
  mutable Mutex mutex_;
  std::shared_ptr<GpuSystem> gpus_ TESSERA_GUARDED_BY(mutex_);
  std::shared_ptr<const GpuSystem> lent_gpus_;  // those of the transport, once there is one
  std::unique_ptr<GpuTransport> transport_;
  const std::uint64_t export_limit_bytes_;
  ExportRegistry registry_;
  std::atomic<std::uint64_t> host_copies_{0};
  std::atomic<std::uint64_t> host_copy_bytes_{0};
  std::unique_ptr<Reaper> reaper_;
  std::mutex trim_mutex_;
  std::condition_variable_any trim_wake_;
  std::jthread trimmer_;  // the last, so that it ends first
};

}  // namespace tessera
