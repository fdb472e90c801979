#include "metrics.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

bool has(const std::string& text, const std::string& line) {
  return text.find("\n" + line + "\n") != std::string::npos;
}

TEST(MetricsTest, CountsByTesseractEndpointAndStatus) {
  Metrics metrics({"a", "b"}, Clock::WallTime(std::chrono::milliseconds(1500)));
  metrics.count({RouteKind::kApply, 1}, 200);
  metrics.count({RouteKind::kApply, 1}, 200);
  metrics.count({RouteKind::kApply, 0}, 422);
  metrics.count({RouteKind::kUnknown, std::nullopt}, 404);
  const std::string text = metrics.to_text();
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="b",endpoint="apply",status="200"} 2)"));
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="a",endpoint="apply",status="422"} 1)"));
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="",endpoint="unknown",status="404"} 1)"));
  EXPECT_TRUE(has(text, "process_start_time_seconds 1.5"));
  EXPECT_TRUE(has(text, "# TYPE tessera_requests_total counter"));
}

TEST(MetricsTest, ShowsNothingThatWasNotAnswered) {
  const Metrics metrics({"a"}, Clock::WallTime());
  EXPECT_EQ(metrics.to_text().find("status="), std::string::npos);
}

TEST(MetricsTest, KeepsOddStatusesWithinItsTable) {
  Metrics metrics({}, Clock::WallTime());
  metrics.count({RouteKind::kConnection, std::nullopt}, 1000);
  metrics.count({RouteKind::kConnection, std::nullopt}, -1);
  EXPECT_TRUE(has(metrics.to_text(), R"(tessera_requests_total{tesseract="",endpoint="connection",status="599"} 1)"));
  EXPECT_TRUE(has(metrics.to_text(), R"(tessera_requests_total{tesseract="",endpoint="connection",status="100"} 1)"));
}

}  // namespace
}  // namespace tessera
