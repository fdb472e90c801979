// Which route a request is for: paths, methods, prefixes (PROTOCOL.md section 1).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "tessera/base/result.h"
#include "tessera/tesseract/definition.h"

namespace tessera {

/// What a route does. The first ones are the endpoints, in their order.
enum class RouteKind {
  kApply,
  kJacobian,
  kJacobianVectorProduct,
  kVectorJacobianProduct,
  kAbstractEval,
  kTest,
  kGpuCheck,
  kHealth,
  kOpenApi,
  kDocs,
  kIndex,
  kMetrics,
  kGpu,
  kLeases,
  kUnknown,     ///< no route at all; for the metrics
  kConnection,  ///< refused before it had a route; for the metrics
};
inline constexpr std::size_t kRouteKindCount = 16;

/// The last part of its path: "apply", "openapi.json"; "index", "unknown", "connection" for those without one.
[[nodiscard]] std::string_view name_of(RouteKind kind);
/// The endpoint behind a route, if there is one.
[[nodiscard]] std::optional<Endpoint> endpoint_of(RouteKind kind);

/// A route. A plain value.
struct Route {
  RouteKind kind = RouteKind::kUnknown;
  std::optional<std::size_t> tesseract;  ///< its position among those that are served
};

/// What a request leads to.
struct RouteMatch {
  enum class Outcome { kFound, kNotFound, kMethodNotAllowed, kRedirect };
  Outcome outcome = Outcome::kNotFound;
  Route route;
  std::string_view allow;     ///< kMethodNotAllowed: the header's value
  std::string_view location;  ///< kRedirect: the path without its trailing slashes; lives as long as the router
};

/// A Tesseract as the router sees it.
struct RoutedTesseract {
  std::string name;
  std::vector<Endpoint> endpoints;
};

/// Immutable once made; safe to use from any thread.
class Router {
 public:
  /// One Tesseract has its routes at the root and at `/<name>`, several only at `/<name>`. Errors: kInvalidArgument for
  /// two of one name, and for the name of a route.
  [[nodiscard]] static Result<Router> make(const std::vector<RoutedTesseract>& tesseracts, bool with_test,
                                           bool with_gpu_check = false);

  /// `path` is decoded.
  [[nodiscard]] RouteMatch find(std::string_view method, std::string_view path) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };

  Router() = default;
  void add_tesseract(const std::string& prefix, const RoutedTesseract& tesseract, std::size_t position,
                     const std::vector<RouteKind>& more);

  std::unordered_map<std::string, Route, Hash, std::equal_to<>> routes_;
};

}  // namespace tessera
