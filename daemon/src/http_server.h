// Serves a Service over HTTP: sockets, threads, limits, and an orderly end.
#pragma once

#include <cstdint>
#include <memory>

#include "service.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/base/result.h"
#include "tessera/daemon/daemon.h"

namespace tessera {

/// A server that runs. Its methods may be called from any thread but its own; destroying it stops it, and waits for
/// calls that are not done for as long as they take.
class HttpServer {
 public:
  /// Binds the sockets and starts the threads. All references outlive the server. Errors: as Daemon::start has them.
  [[nodiscard]] static Result<std::unique_ptr<HttpServer>> start(DaemonOptions options, Service& service,
                                                                 Logger& logger, const Clock& clock);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  virtual ~HttpServer() = default;

  /// The TCP port, 0 if TCP is not served.
  [[nodiscard]] virtual std::uint16_t port() const = 0;
  /// Stops accepting, closes idle connections, lets what runs finish within stop_time. Returns whether all of it did.
  virtual bool stop() = 0;

 protected:
  HttpServer() = default;
};

}  // namespace tessera
