#include "router.h"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tessera {
namespace {

using Outcome = RouteMatch::Outcome;

Router router_for(const std::vector<RoutedTesseract>& tesseracts, bool with_test = false) {
  const Result<Router> router = Router::make(tesseracts, with_test);
  if (!router) {
    throw std::logic_error(router.error().message());
  }
  return *router;
}

Router one() {
  return router_for({{"solver", {Endpoint::kApply, Endpoint::kJacobian}}});
}

Router two() {
  return router_for({{"a", {Endpoint::kApply}}, {"b", {Endpoint::kApply}}});
}

TEST(RouterTest, ServesOneTesseractAtTheRootAndUnderItsName) {
  for (const char* path : {"/apply", "/jacobian", "/solver/apply", "/solver/jacobian"}) {
    const RouteMatch match = one().find("POST", path);
    EXPECT_EQ(match.outcome, Outcome::kFound) << path;
    EXPECT_EQ(match.route.tesseract, 0U) << path;
  }
  for (const char* path : {"/", "/health", "/openapi.json", "/docs", "/metrics", "/solver/health", "/solver/docs"}) {
    EXPECT_EQ(one().find("GET", path).outcome, Outcome::kFound) << path;
  }
}

TEST(RouterTest, ServesSeveralTesseractsUnderTheirNamesOnly) {
  EXPECT_EQ(two().find("POST", "/a/apply").route.tesseract, 0U);
  EXPECT_EQ(two().find("POST", "/b/apply").route.tesseract, 1U);
  EXPECT_EQ(two().find("GET", "/health").outcome, Outcome::kFound);
  for (const char* path : {"/apply", "/openapi.json", "/docs", "/a", "/a/", "/c/apply", "/a/b/apply"}) {
    for (const char* method : {"GET", "POST", "DELETE"}) {
      EXPECT_EQ(two().find(method, path).outcome, Outcome::kNotFound) << method << path;
    }
  }
}

TEST(RouterTest, MatchesPathsExactly) {
  for (const char* path : {"/Apply", "//apply", "/apply/x", "apply", "", "/jacobian_vector_product", "/test", "/redoc",
                           "/check_gpu_transport", "/solver/metrics"}) {
    EXPECT_EQ(one().find("POST", path).outcome, Outcome::kNotFound) << path;
  }
}

TEST(RouterTest, SaysWhichMethodsARouteTakes) {
  EXPECT_EQ(one().find("GET", "/apply").allow, "POST");
  EXPECT_EQ(one().find("HEAD", "/apply").outcome, Outcome::kMethodNotAllowed);
  EXPECT_EQ(one().find("HEAD", "/health").allow, "GET");
  EXPECT_EQ(one().find("POST", "/openapi.json").allow, "GET, HEAD");
  EXPECT_EQ(one().find("HEAD", "/docs").outcome, Outcome::kFound);
}

TEST(RouterTest, AnswersOwnRoutesToReadersOnly) {
  for (const char* path : {"/", "/metrics"}) {
    EXPECT_EQ(one().find("HEAD", path).outcome, Outcome::kFound);
    EXPECT_EQ(one().find("POST", path).outcome, Outcome::kNotFound);
  }
}

TEST(RouterTest, RedirectsTrailingSlashes) {
  EXPECT_EQ(one().find("POST", "/apply/").outcome, Outcome::kRedirect);
  EXPECT_EQ(one().find("DELETE", "/solver/docs//").location, "/solver/docs");
  EXPECT_EQ(one().find("GET", "/nope/").outcome, Outcome::kNotFound);
}

TEST(RouterTest, OffersTestWhenAsked) {
  EXPECT_EQ(router_for({{"solver", {Endpoint::kApply}}}, true).find("POST", "/test").route.kind, RouteKind::kTest);
}

TEST(RouterTest, RefusesNamesThatClash) {
  for (const char* name : {"apply", "health", "metrics", "openapi.json", "gpu", "check_gpu_transport"}) {
    EXPECT_FALSE(Router::make({{name, {Endpoint::kApply}}}, false)) << name;
  }
  EXPECT_FALSE(Router::make({{"a", {Endpoint::kApply}}, {"a", {Endpoint::kApply}}}, false));
}

}  // namespace
}  // namespace tessera
