// A request as the service sees it, and a response as it makes it: HTTP without sockets.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "request_body.h"
#include "request_report.h"
#include "server_load.h"
#include "tessera/array/body.h"

namespace tessera {

/// Borrows from the connection for as long as it is handled. Header values are bytes as they came (latin-1); of several
/// lines of one name the first counts.
struct Request {
  std::string_view method;
  std::string_view target;  ///< as sent: path and query, percent-encoded
  std::optional<std::string_view> host;
  std::optional<std::string_view> content_type;
  std::optional<std::string_view> accept;
  std::optional<std::string_view> exports_done;
  std::string_view peer;  ///< who sent it, for operators: "127.0.0.1:41234", "pid 5123"
  RequestBody body;
  std::optional<std::string_view> request_id;  ///< that the client calls it by
  RequestReport* report = nullptr;             ///< is filled in on its way; may be null
  const LoadSource* server = nullptr;          ///< that it came to; may be null
};

struct Response {
  int status = 200;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;  ///< Allow, Location, Retry-After, …
  Body body;
  bool without_body = false;            ///< HEAD: Content-Length is that of the body, which is not sent
  bool close = false;                   ///< close the connection after it, announced
  std::function<void()> when_not_sent;  ///< called if it cannot be sent whole; may be empty
};

}  // namespace tessera
