// What the service notes about a request on its way to its answer: its route, its failures, the limits that it hit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "gpu_exchange.h"
#include "metrics.h"
#include "negotiation.h"
#include "request.h"
#include "request_report.h"
#include "router.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/daemon/daemon.h"
#include "tessera/daemon/output_capture.h"
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
  const StandardOutput& output;
};

/// One request on its way to its answer; copies are of the same one. One thread at a time.
class RequestRecord {
 public:
  RequestRecord(const ServiceParts& parts, const Request& request) : parts_(parts), report_(request.report) {}

  /// What the answer carries as X-Request-Id, and lines of the log name; empty if nobody gave it one.
  [[nodiscard]] std::string_view id() const { return report_ != nullptr ? report_->id : std::string_view(); }
  /// Says what the request is for, once that is known. `tesseract` is a name that outlives the record.
  void set_route(const Route& route, std::string_view tesseract);
  [[nodiscard]] const Route& route() const { return route_; }

  /// Counts a limit that the request hit.
  void hit(Limit limit) const;
  /// What the arrays of the request hold, and those of its answer; null if nobody wants to know.
  [[nodiscard]] ArrayTally* arrays_in() const { return report_ != nullptr ? &report_->arrays_in : nullptr; }
  [[nodiscard]] ArrayTally* arrays_out() const { return report_ != nullptr ? &report_->arrays_out : nullptr; }

  /// The answer to a body that is no text, or nested too deep.
  [[nodiscard]] Response refuse_body(const JsonFault& fault) const;
  /// Logs that the files of a call could not be written, which is not its endpoint's fault, and makes its answer.
  [[nodiscard]] Response fail_to_write(const Error& error, std::optional<std::string_view> accept) const;
  /// Logs a failure and makes its answer.
  [[nodiscard]] Response fail(const EndpointFailure& failure, std::optional<std::string_view> accept) const;

 private:
  [[nodiscard]] Response answer_to(const EndpointFailure& failure, std::optional<std::string_view> accept) const;

  const ServiceParts& parts_;
  RequestReport* report_;
  Route route_;
  std::string_view tesseract_;
};

/// Logs one line about a request that is over.
void log_end(Logger& logger, const RequestReport& report);

}  // namespace tessera
