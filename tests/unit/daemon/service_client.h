// Sends requests to a Service as a connection would, without a socket.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "service.h"
#include "support/arriving.h"
#include "tessera/tesseract/module.h"

// Of the mixer, which the tests are linked with.
extern "C" const TesseraModule tessera_module;  // NOLINT(readability-identifier-naming)

namespace tessera::testing {

/// The Tesseract of the golden vectors.
inline std::shared_ptr<const TesseractDefinition> make_mixer() {
  return std::shared_ptr<const TesseractDefinition>(tessera_module.make());
}

using Headers = std::vector<std::pair<std::string, std::string>>;

/// A request that owns what it says.
struct OwnedRequest {
  std::string method = "GET";
  std::string target = "/";
  Headers headers;  ///< names in lower case
  std::string body;
  const LoadSource* server = nullptr;
  std::size_t piece_bytes = 0;  ///< in which the body arrives; 0: it is there at once

  /// The first header of that name.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) {
        return value;
      }
    }
    return std::nullopt;
  }
};

/// A response with its body in one piece.
struct Answer {
  int status = 0;
  std::string content_type;
  Headers headers;
  std::string body;
  bool without_body = false;
  bool was_run = false;  ///< it took a worker
  Limit limit = Limit::kNone;

  [[nodiscard]] std::string header(std::string_view name) const {
    for (const auto& [key, value] : headers) {
      if (key == name) {
        return value;
      }
    }
    return {};
  }
};

/// Handles one request from its beginning to its answer.
inline Answer send(Service& service, const OwnedRequest& owned) {
  Request request;
  request.method = owned.method;
  request.target = owned.target;
  request.host = owned.header("host");
  request.content_type = owned.header("content-type");
  request.accept = owned.header("accept");
  std::optional<ArrivingText> arrived;
  if (owned.piece_bytes != 0) {
    request.body = RequestBody(arrived.emplace(arrive(owned.body, owned.piece_bytes)));
  } else {
    request.body = std::string_view(owned.body);
  }
  RequestReport report;
  report.id = "id-of-the-test";
  report.method = request.method;
  report.target = request.target;
  request.report = &report;
  request.server = owned.server;
  Answer answer;
  auto begun = service.begin(request);
  Response response;
  if (auto* call = std::get_if<std::unique_ptr<PendingCall>>(&begun)) {
    answer.was_run = true;
    (*call)->run();
    response = (*call)->finish();
  } else {
    response = std::move(std::get<Response>(begun));
  }
  report.status = response.status;
  service.answering(report);
  report.is_sent = true;
  service.request_over(report);
  answer.limit = report.limit;
  answer.status = response.status;
  answer.content_type = response.content_type;
  answer.headers = response.headers;
  answer.body = response.body.to_string();
  answer.without_body = response.without_body;
  return answer;
}

inline Answer get(Service& service, std::string target, Headers headers = {}) {
  return send(service, {"GET", std::move(target), std::move(headers), ""});
}

/// A POST of JSON.
inline Answer post(Service& service, std::string target, std::string body, Headers headers = {}) {
  headers.emplace_back("content-type", "application/json");
  return send(service, {"POST", std::move(target), std::move(headers), std::move(body)});
}

}  // namespace tessera::testing
