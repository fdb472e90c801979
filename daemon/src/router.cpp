#include "router.h"

#include <array>

namespace tessera {
namespace {

// Of what is no endpoint, from RouteKind::kTest on.
constexpr std::array<std::string_view, kRouteKindCount - kEndpointCount> kOtherNames = {
    "test",    "check_gpu_transport", "health", "openapi.json", "docs", "index", "metrics", "gpu", "leases",
    "unknown", "connection"};

static_assert(static_cast<std::size_t>(RouteKind::kConnection) + 1 == kRouteKindCount);
static_assert(static_cast<std::size_t>(RouteKind::kAbstractEval) == static_cast<std::size_t>(Endpoint::kAbstractEval));

bool is_read_only(RouteKind kind) {
  return kind >= RouteKind::kHealth;
}

bool takes_head(RouteKind kind) {
  return is_read_only(kind) && kind != RouteKind::kHealth;
}

/// Routes of ours that do not exist upstream: methods that they do not take are 404, as there.
bool is_own(RouteKind kind) {
  return kind == RouteKind::kIndex || kind == RouteKind::kMetrics || kind == RouteKind::kGpu ||
         kind == RouteKind::kLeases;
}

std::string_view allowed_methods(RouteKind kind) {
  if (!is_read_only(kind)) {
    return "POST";
  }
  return takes_head(kind) ? "GET, HEAD" : "GET";
}

bool takes(RouteKind kind, std::string_view method) {
  return is_read_only(kind) ? method == "GET" || (method == "HEAD" && takes_head(kind)) : method == "POST";
}

}  // namespace

std::string_view name_of(RouteKind kind) {
  const std::optional<Endpoint> endpoint = endpoint_of(kind);
  return endpoint ? name_of(*endpoint) : kOtherNames.at(static_cast<std::size_t>(kind) - kEndpointCount);
}

std::optional<Endpoint> endpoint_of(RouteKind kind) {
  return kind <= RouteKind::kAbstractEval ? std::optional(static_cast<Endpoint>(kind)) : std::nullopt;
}

Result<Router> Router::make(const std::vector<RoutedTesseract>& tesseracts, bool with_test, bool with_gpu_check) {
  std::vector<RouteKind> more{RouteKind::kHealth, RouteKind::kOpenApi, RouteKind::kDocs};
  if (with_test) {
    more.push_back(RouteKind::kTest);
  }
  if (with_gpu_check) {
    more.push_back(RouteKind::kGpuCheck);
  }
  Router router;
  router.routes_["/"] = {RouteKind::kIndex, std::nullopt};
  router.routes_["/metrics"] = {RouteKind::kMetrics, std::nullopt};
  router.routes_["/gpu"] = {RouteKind::kGpu, std::nullopt};
  router.routes_["/leases"] = {RouteKind::kLeases, std::nullopt};
  for (std::size_t i = 0; i < tesseracts.size(); ++i) {
    const RoutedTesseract& tesseract = tesseracts[i];
    if (is_route_name(tesseract.name)) {
      return Error(ErrorCode::kInvalidArgument,
                   "a Tesseract cannot be named '" + tesseract.name + "': that is the name of a route");
    }
    if (router.routes_.contains("/" + tesseract.name + "/apply")) {
      return Error(ErrorCode::kInvalidArgument, "two Tesseracts are named '" + tesseract.name + "'");
    }
    router.add_tesseract("/" + tesseract.name + "/", tesseract, i, more);
  }
  if (tesseracts.size() == 1) {
    router.add_tesseract("/", tesseracts.front(), 0, more);
  }
  router.routes_["/health"] = {RouteKind::kHealth, std::nullopt};
  return router;
}

void Router::add_tesseract(const std::string& prefix, const RoutedTesseract& tesseract, std::size_t position,
                           const std::vector<RouteKind>& more) {
  const auto add = [&](RouteKind kind) { routes_[prefix + std::string(name_of(kind))] = {kind, position}; };
  for (const Endpoint endpoint : tesseract.endpoints) {
    add(static_cast<RouteKind>(endpoint));
  }
  for (const RouteKind kind : more) {
    add(kind);
  }
}

RouteMatch Router::find(std::string_view method, std::string_view path) const {
  RouteMatch match;
  const auto found = routes_.find(path);
  if (found != routes_.end()) {
    match.route = found->second;
    const RouteKind kind = match.route.kind;
    if (takes(kind, method)) {
      match.outcome = RouteMatch::Outcome::kFound;
    } else if (!is_own(kind)) {
      match.outcome = RouteMatch::Outcome::kMethodNotAllowed;
      match.allow = allowed_methods(kind);
    }
    return match;
  }
  if (!path.ends_with('/')) {
    return match;
  }
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  const auto without_slash = routes_.find(path);
  if (without_slash != routes_.end() && !is_own(without_slash->second.kind)) {
    match.outcome = RouteMatch::Outcome::kRedirect;
    match.route = without_slash->second;
    match.location = without_slash->first;
  }
  return match;
}

}  // namespace tessera
