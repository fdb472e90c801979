#include "request_record.h"

#include <chrono>
#include <cstdint>

#include "answers.h"

namespace tessera {
namespace {

// Of a target, so much is logged: the rest of a long one tells nobody anything.
constexpr std::size_t kMaxTargetBytes = 200;

std::int64_t microseconds(Clock::Instant::duration time) {
  return std::chrono::duration_cast<std::chrono::microseconds>(time).count();
}

}  // namespace

void RequestRecord::set_route(const Route& route, std::string_view tesseract) {
  route_ = route;
  tesseract_ = tesseract;
  if (report_ != nullptr) {
    report_->route = route;
    report_->tesseract = tesseract;
  }
}

void RequestRecord::hit(Limit limit) const {
  parts_.metrics.limits().hit(limit);
  if (report_ != nullptr) {
    report_->limit = limit;
  }
}

Response RequestRecord::refuse_body(const JsonFault& fault) const {
  if (fault.kind == JsonFault::Kind::kTooDeep) {
    hit(Limit::kNestingDepth);
  }
  return unreadable_body();
}

Response RequestRecord::fail(const EndpointFailure& failure, std::optional<std::string_view> accept) const {
  const std::string_view endpoint = name_of(route_.kind);
  if (failure.status) {
    parts_.logger.debug("endpoint refused a call", {{"tesseract", tesseract_},
                                                    {"endpoint", endpoint},
                                                    {"status", std::int64_t{*failure.status}},
                                                    {"text", failure.text},
                                                    {"id", id()}});
  } else {
    parts_.logger.error(
        failure.is_output_fault ? "endpoint returned what its schema does not allow" : "endpoint failed",
        {{"tesseract", tesseract_},
         {"endpoint", endpoint},
         {"kind", failure.kind},
         {"text", failure.text},
         {"id", id()}});
  }
  return answer_to(failure, accept);
}

Response RequestRecord::fail_to_write(const Error& error, std::optional<std::string_view> accept) const {
  parts_.logger.error("the files of a call cannot be written", {{"tesseract", tesseract_},
                                                                {"endpoint", name_of(route_.kind)},
                                                                {"kind", "OSError"},
                                                                {"text", error.message()},
                                                                {"id", id()}});
  return answer_to({"OSError", error.message(), std::nullopt, false}, accept);
}

Response RequestRecord::answer_to(const EndpointFailure& failure, std::optional<std::string_view> accept) const {
  const std::string_view endpoint = name_of(route_.kind);
  std::string where = "Tesseract \"" + std::string(tesseract_) + "\", in " + std::string(endpoint);
  where += failure.is_output_fault ? ", in what it returned" : "";
  return failure_answer(failure, where, parts_.options.config.debug, accept);
}

void log_end(Logger& logger, const RequestReport& report) {
  if (!logger.is_on(LogLevel::kDebug)) {
    return;
  }
  const char* const message =
      report.status == 0 ? "request got no answer" : (report.is_sent ? "request answered" : "request answered in part");
  const auto part = [&](RequestPart which) { return microseconds(report.times.of(which)); };
  logger.debug(message, {{"id", report.id},
                         {"method", report.method.empty() ? "?" : report.method},
                         {"target", report.target.empty() ? "?" : report.target.substr(0, kMaxTargetBytes)},
                         {"tesseract", report.tesseract},
                         {"endpoint", name_of(report.route.kind)},
                         {"status", std::int64_t{report.status}},
                         {"limit", name_of(report.limit)},
                         {"peer", report.peer},
                         {"received_bytes", static_cast<std::int64_t>(report.received_bytes)},
                         {"sent_bytes", static_cast<std::int64_t>(report.sent_bytes)},
                         {"receive_us", part(RequestPart::kReceive)},
                         {"decode_us", part(RequestPart::kDecode)},
                         {"wait_us", part(RequestPart::kWait)},
                         {"compute_us", part(RequestPart::kCompute)},
                         {"encode_us", part(RequestPart::kEncode)},
                         {"send_us", part(RequestPart::kSend)},
                         {"whole_us", microseconds(report.times.whole())}});
}

}  // namespace tessera
