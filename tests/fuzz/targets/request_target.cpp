// Targets of requests: split, decoded, routed.
#include "request_target.h"

#include <string>

#include "input.h"
#include "router.h"
#include "targets.h"
#include "tessera/base/utf8.h"

namespace tessera::fuzzing {
namespace {

const std::vector<Endpoint> kEndpoints{Endpoint::kApply, Endpoint::kJacobian, Endpoint::kAbstractEval};

void check_route(const Router& router, std::string_view method, std::string_view path, std::size_t tesseract_count) {
  const RouteMatch match = router.find(method, path);
  if (match.outcome == RouteMatch::Outcome::kFound) {
    require(!match.route.tesseract.has_value() || *match.route.tesseract < tesseract_count,
            "a route is of a Tesseract");
  }
  if (match.outcome == RouteMatch::Outcome::kRedirect) {
    require(path.starts_with(match.location), "a redirect goes to the same path without slashes");
  }
}

}  // namespace

void fuzz_request_target(std::string_view bytes) {
  static const Router kOne = Router::make({{"heat", kEndpoints}}, true).value();
  static const Router kTwo = Router::make({{"heat", kEndpoints}, {"wave.2", kEndpoints}}, false, true).value();
  static constexpr std::string_view kMethods[] = {"GET", "POST", "HEAD", "PUT", "get"};

  Input input(bytes);
  const std::string_view method = kMethods[input.pick(5)];
  const std::string_view target = input.rest();
  const RequestTarget parts = split_target(target);
  require(parts.path.size() + parts.query.size() <= target.size(), "a target is not longer than its text");
  const std::string path = percent_decoded(parts.path);
  check_route(kOne, method, path, 1);
  check_route(kTwo, method, path, 2);
  if (const std::optional<std::string> run_id = find_parameter(parts.query, "run_id")) {
    require(is_utf8(*run_id), "a parameter is UTF-8");
  }
}

}  // namespace tessera::fuzzing
