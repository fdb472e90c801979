#include "request_record.h"

#include <chrono>
#include <cstdint>

#include "answers.h"

namespace tessera {

RequestRecord::RequestRecord(const ServiceParts& parts, const Request& request)
    : parts_(parts), request_bytes_(request.body.size()) {
  if (parts_.logger.is_on(LogLevel::kDebug)) {
    began_ = parts_.clock.now();
  }
}

void RequestRecord::set_route(const Route& route, std::string_view tesseract) {
  route_ = route;
  tesseract_ = tesseract;
}

Response RequestRecord::fail(const EndpointFailure& failure, std::optional<std::string_view> accept) const {
  const std::string_view endpoint = name_of(route_.kind);
  if (failure.status) {
    parts_.logger.debug("endpoint refused a call", {{"tesseract", tesseract_},
                                                    {"endpoint", endpoint},
                                                    {"status", std::int64_t{*failure.status}},
                                                    {"text", failure.text}});
  } else {
    parts_.logger.error(
        failure.is_output_fault ? "endpoint returned what its schema does not allow" : "endpoint failed",
        {{"tesseract", tesseract_}, {"endpoint", endpoint}, {"kind", failure.kind}, {"text", failure.text}});
  }
  return answer_to(failure, accept);
}

Response RequestRecord::fail_to_write(const Error& error, std::optional<std::string_view> accept) const {
  parts_.logger.error(
      "the files of a call cannot be written",
      {{"tesseract", tesseract_}, {"endpoint", name_of(route_.kind)}, {"kind", "OSError"}, {"text", error.message()}});
  return answer_to({"OSError", error.message(), std::nullopt, false}, accept);
}

Response RequestRecord::answer_to(const EndpointFailure& failure, std::optional<std::string_view> accept) const {
  const std::string_view endpoint = name_of(route_.kind);
  std::string where = "Tesseract \"" + std::string(tesseract_) + "\", in " + std::string(endpoint);
  where += failure.is_output_fault ? ", in what it returned" : "";
  return failure_answer(failure, where, parts_.options.config.debug, accept);
}

void RequestRecord::answered(const Response& response) const {
  parts_.metrics.count(route_, response.status);
  if (began_) {
    const std::chrono::duration<double, std::milli> took = parts_.clock.now() - *began_;
    parts_.logger.debug("request answered",
                        {{"tesseract", tesseract_},
                         {"endpoint", name_of(route_.kind)},
                         {"status", std::int64_t{response.status}},
                         {"ms", took.count()},
                         {"request_bytes", static_cast<std::int64_t>(request_bytes_)},
                         {"response_bytes", static_cast<std::int64_t>(response.body.size_bytes())}});
  }
}

}  // namespace tessera
