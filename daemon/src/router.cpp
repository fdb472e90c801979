#include "router.h"

#include <array>

namespace tessera {
namespace {

// Of what is no endpoint, from RouteKind::kTest on.
constexpr std::array<std::string_view, kRouteKindCount - kEndpointCount> kOtherNames = {
    "test", "health", "openapi.json", "docs", "index", "metrics", "unknown", "connection"};

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
  return kind == RouteKind::kIndex || kind == RouteKind::kMetrics;
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

Result<Router> Router::make(const std::vector<RoutedTesseract>& tesseracts, bool with_test) {
  Router router;
  router.routes_["/"] = {RouteKind::kIndex, std::nullopt};
  router.routes_["/metrics"] = {RouteKind::kMetrics, std::nullopt};
  for (std::size_t i = 0; i < tesseracts.size(); ++i) {
    const RoutedTesseract& tesseract = tesseracts[i];
    if (is_route_name(tesseract.name)) {
      return Error(ErrorCode::kInvalidArgument,
                   "a Tesseract cannot be named '" + tesseract.name + "': that is the name of a route");
    }
    if (router.routes_.contains("/" + tesseract.name + "/apply")) {
      return Error(ErrorCode::kInvalidArgument, "two Tesseracts are named '" + tesseract.name + "'");
    }
    router.add_tesseract("/" + tesseract.name + "/", tesseract, i, with_test);
  }
  if (tesseracts.size() == 1) {
    router.add_tesseract("/", tesseracts.front(), 0, with_test);
  }
  router.routes_["/health"] = {RouteKind::kHealth, std::nullopt};
  return router;
}

void Router::add_tesseract(const std::string& prefix, const RoutedTesseract& tesseract, std::size_t position,
                           bool with_test) {
  const auto add = [&](RouteKind kind) { routes_[prefix + std::string(name_of(kind))] = {kind, position}; };
  for (const Endpoint endpoint : tesseract.endpoints) {
    add(static_cast<RouteKind>(endpoint));
  }
  for (const RouteKind kind : {RouteKind::kHealth, RouteKind::kOpenApi, RouteKind::kDocs}) {
    add(kind);
  }
  if (with_test) {
    add(RouteKind::kTest);
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
