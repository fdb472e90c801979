// What is counted and logged about a request when it is answered.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gpu_exchange.h"
#include "metrics.h"
#include "negotiation.h"
#include "request.h"
#include "router.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/daemon/daemon.h"
#include "tessera/tesseract/endpoint_error.h"

namespace tessera {

/// What every request of a service shares. All of it outlives them.
struct ServiceParts {
  const DaemonOptions& options;
  const EncodingOffer& offer;
  Metrics& metrics;
  GpuExchange& gpu;
  Logger& logger;
  const Clock& clock;
};

/// One request on its way to its answer. One thread at a time.
class RequestRecord {
 public:
  RequestRecord(const ServiceParts& parts, const Request& request);

  /// Says what the request is for, once that is known. `tesseract` is a name that outlives the record.
  void set_route(const Route& route, std::string_view tesseract);
  [[nodiscard]] const Route& route() const { return route_; }

  /// Logs that the files of a call could not be written, which is not its endpoint's fault, and makes its answer.
  [[nodiscard]] Response fail_to_write(const Error& error, std::optional<std::string_view> accept) const;
  /// Logs a failure and makes its answer.
  [[nodiscard]] Response fail(const EndpointFailure& failure, std::optional<std::string_view> accept) const;
  /// Counts the answer, and logs one line about it at debug. Call it once, last.
  void answered(const Response& response) const;

 private:
  [[nodiscard]] Response answer_to(const EndpointFailure& failure, std::optional<std::string_view> accept) const;

  const ServiceParts& parts_;
  Route route_;
  std::string_view tesseract_;
  std::size_t request_bytes_;
  std::optional<Clock::Instant> began_;  // only where somebody reads it
};

}  // namespace tessera
