#include "metrics.h"

#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "prometheus_text.h"
#include "tessera/array/buffer.h"

namespace tessera {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

bool has(const std::string& text, const std::string& line) {
  return ("\n" + text).find("\n" + line + "\n") != std::string::npos;
}

RequestReport answered(Route route, int status) {
  RequestReport report;
  report.route = route;
  report.status = status;
  report.is_sent = true;
  return report;
}

void count(Metrics& metrics, const RequestReport& report) {
  if (report.status != 0) {
    metrics.count_answer(report);
  }
  metrics.count_end(report);
}

class FixedLoad final : public LoadSource {
 public:
  [[nodiscard]] ServerLoad load() const override { return {4, 3, 2, 8, 1, 0, 17, 4096, 8192}; }
};

// Fails for what is not the text exposition format: a line that is none, a metric without its type before it or in two
// places, a sample given twice, a histogram that does not add up.
void expect_valid(const std::string& text) {
  static const std::regex kHead("# (HELP|TYPE) ([a-z_]+) (.+)");
  static const std::regex kSample(
      R"re(([a-z_]+)(\{([a-z_]+="[^"\\\n]*"(,[a-z_]+="[^"\\\n]*")*)\})? ([0-9.e+-]+|\+Inf))re");
  static const std::regex kBound(R"re(,?le="([^"]+)")re");
  std::map<std::string, std::string> types;
  std::set<std::string> seen;
  std::string metric;
  std::map<std::string, double> buckets;  // the last of each histogram
  std::istringstream lines(text);
  ASSERT_TRUE(text.ends_with('\n'));
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_match(line, found, kHead)) {
      if (found[1] == "TYPE") {
        EXPECT_TRUE(types.emplace(found[2], found[3]).second) << line;
        metric = found[2];
      }
      continue;
    }
    ASSERT_TRUE(std::regex_match(line, found, kSample)) << line;
    const std::string labels = found[3];
    EXPECT_TRUE(seen.insert(found[1].str() + "{" + labels).second) << line;
    const double value = std::stod(found[5]);
    if (types[metric] != "histogram") {
      EXPECT_EQ(found[1], metric) << line;
      continue;
    }
    const std::string series = metric + std::regex_replace(labels, kBound, "");
    if (found[1] == metric + "_bucket") {
      EXPECT_GE(value, buckets[series]) << line;
      buckets[series] = value;
    } else if (found[1] == metric + "_count") {
      EXPECT_EQ(value, buckets[series]) << line;
    } else {
      EXPECT_EQ(found[1], metric + "_sum") << line;
    }
  }
}

TEST(MetricsTest, CountsByTesseractEndpointAndStatus) {
  Metrics metrics({"a", "b"}, Clock::WallTime(std::chrono::milliseconds(1500)));
  count(metrics, answered({RouteKind::kApply, 1}, 200));
  count(metrics, answered({RouteKind::kApply, 1}, 200));
  count(metrics, answered({RouteKind::kApply, 0}, 422));
  count(metrics, answered({RouteKind::kUnknown, std::nullopt}, 404));
  const std::string text = metrics.to_text(nullptr);
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="b",endpoint="apply",status="200"} 2)"));
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="a",endpoint="apply",status="422"} 1)"));
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="",endpoint="unknown",status="404"} 1)"));
  EXPECT_TRUE(has(text, "process_start_time_seconds 1.5"));
  EXPECT_TRUE(has(text, "# TYPE tessera_requests_total counter"));
  expect_valid(text);
}

TEST(MetricsTest, ShowsNothingThatWasNotAnswered) {
  const Metrics metrics({"a"}, Clock::WallTime());
  EXPECT_EQ(metrics.to_text(nullptr).find("status="), std::string::npos);
  EXPECT_EQ(metrics.to_text(nullptr).find("_bucket"), std::string::npos);
  expect_valid(metrics.to_text(nullptr));
}

TEST(MetricsTest, KeepsOddStatusesWithinItsTable) {
  Metrics metrics({}, Clock::WallTime());
  count(metrics, answered({RouteKind::kConnection, std::nullopt}, 1000));
  count(metrics, answered({RouteKind::kConnection, std::nullopt}, -1));
  const std::string text = metrics.to_text(nullptr);
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="",endpoint="connection",status="599"} 1)"));
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="",endpoint="connection",status="100"} 1)"));
}

TEST(MetricsTest, SplitsTheTimeByPart) {
  Metrics metrics({"a"}, Clock::WallTime());
  RequestReport report = answered({RouteKind::kApply, 0}, 200);
  const Clock::Instant begin{};
  report.times.begin(begin);
  report.times.end(RequestPart::kReceive, begin + microseconds(3));
  report.times.end(RequestPart::kDecode, begin + microseconds(4));
  report.times.skip(RequestPart::kWait);
  report.times.end(RequestPart::kCompute, begin + microseconds(1004));
  report.times.end(RequestPart::kEncode, begin + microseconds(1005));
  report.times.end(RequestPart::kSend, begin + microseconds(1006));
  report.times.end(RequestPart::kEncode, begin + microseconds(1008));
  count(metrics, report);
  const std::string text = metrics.to_text(nullptr);
  const auto has_part = [&](const std::string& part, const std::string& below, const std::string& bound,
                            const std::string& sum) {
    const std::string labels = R"({endpoint="apply",part=")" + part + "\"";
    const std::string name = "tessera_request_part_seconds";
    return has(text, name + "_bucket" + labels + ",le=\"" + below + "\"} 0") &&
           has(text, name + "_bucket" + labels + ",le=\"" + bound + "\"} 1") &&
           has(text, name + "_sum" + labels + "} " + sum) && has(text, name + "_count" + labels + "} 1");
  };
  EXPECT_TRUE(has_part("receive", "2e-06", "4e-06", "3e-06")) << text;
  EXPECT_TRUE(has_part("compute", "0.000512", "0.001024", "0.001"));
  EXPECT_TRUE(has_part("encode", "2e-06", "4e-06", "3e-06"));
  EXPECT_TRUE(has(text, R"(tessera_request_part_seconds_bucket{endpoint="apply",part="wait",le="1e-06"} 1)"));
  EXPECT_TRUE(has(text, R"(tessera_request_seconds_bucket{tesseract="a",endpoint="apply",le="0.000512"} 0)"));
  EXPECT_TRUE(has(text, R"(tessera_request_seconds_bucket{tesseract="a",endpoint="apply",le="0.001024"} 1)"));
  EXPECT_TRUE(has(text, R"(tessera_request_seconds_sum{tesseract="a",endpoint="apply"} 0.001008)"));
  expect_valid(text);
}

TEST(MetricsTest, LeavesOutPartsThatARequestDidNotHave) {
  Metrics metrics({"a"}, Clock::WallTime());
  RequestReport report = answered({RouteKind::kHealth, std::nullopt}, 200);
  report.times.begin({});
  report.times.end(RequestPart::kReceive, {});
  count(metrics, report);
  const std::string text = metrics.to_text(nullptr);
  EXPECT_NE(text.find(R"(endpoint="health",part="receive")"), std::string::npos);
  EXPECT_EQ(text.find(R"(endpoint="health",part="compute")"), std::string::npos);
}

TEST(MetricsTest, CountsBytesAndArraysByEncoding) {
  Metrics metrics({"a"}, Clock::WallTime());
  RequestReport report = answered({RouteKind::kApply, 0}, 200);
  report.received_bytes = 1000;
  report.sent_bytes = 2000;
  report.arrays_in.add(ArrayEncoding::kBase64, 300);
  report.arrays_in.add(ArrayEncoding::kJson, 8);
  report.arrays_out.add(ArrayEncoding::kBinrefLz4, 400);
  count(metrics, report);
  count(metrics, report);
  const std::string text = metrics.to_text(nullptr);
  EXPECT_TRUE(has(text, "tessera_received_bytes_total 2000"));
  EXPECT_TRUE(has(text, "tessera_sent_bytes_total 4000"));
  EXPECT_TRUE(has(text, R"(tessera_array_received_bytes_total{encoding="base64"} 600)"));
  EXPECT_TRUE(has(text, R"(tessera_array_received_bytes_total{encoding="json"} 16)"));
  EXPECT_TRUE(has(text, R"(tessera_array_received_bytes_total{encoding="cuda_ipc"} 0)"));
  EXPECT_TRUE(has(text, R"(tessera_array_sent_bytes_total{encoding="binref+lz4"} 800)"));
  expect_valid(text);
}

TEST(MetricsTest, CountsWhatGotNoWholeAnswer) {
  Metrics metrics({"a"}, Clock::WallTime());
  RequestReport report = answered({RouteKind::kApply, 0}, 0);
  report.is_sent = false;
  count(metrics, report);
  report.status = 200;
  count(metrics, report);
  const std::string text = metrics.to_text(nullptr);
  EXPECT_TRUE(has(text, "tessera_requests_cut_off_total 2"));
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="a",endpoint="apply",status="200"} 1)"));
  EXPECT_TRUE(has(text, R"(tessera_request_seconds_count{tesseract="a",endpoint="apply"} 1)"));
}

TEST(MetricsTest, ShowsEachLimitByItsName) {
  Metrics metrics({}, Clock::WallTime());
  metrics.limits().hit(Limit::kWaitingCalls);
  metrics.limits().hit(Limit::kWaitingCalls);
  const std::string text = metrics.to_text(nullptr);
  EXPECT_TRUE(has(text, R"(tessera_limit_hits_total{limit="waiting_calls"} 2)"));
  for (std::size_t i = 1; i < kLimitCount; ++i) {
    const std::string name(name_of(static_cast<Limit>(i)));
    EXPECT_NE(text.find("tessera_limit_hits_total{limit=\"" + name + "\"} "), std::string::npos) << name;
  }
  EXPECT_EQ(text.find(R"(limit="none")"), std::string::npos);
  expect_valid(text);
}

TEST(MetricsTest, ShowsWhatArraysTakeOfMemory) {
  constexpr std::uint64_t kBytes = std::uint64_t{5} << 20;
  const Metrics metrics({}, Clock::WallTime());
  const auto shown = [&metrics](const std::string& name) {
    const std::string text = metrics.to_text(nullptr);
    std::smatch found;
    EXPECT_TRUE(std::regex_search(text, found, std::regex("\n" + name + " ([0-9]+)\n"))) << text;
    return found.empty() ? 0 : std::stoull(found[1]);
  };
  const std::uint64_t used_before = shown("tessera_buffer_pool_used_bytes");
  {
    const Buffer held = Buffer::allocate(kBytes);
    EXPECT_GE(shown("tessera_buffer_pool_used_bytes"), used_before + kBytes);
  }
  EXPECT_EQ(shown("tessera_buffer_pool_used_bytes"), used_before);
  EXPECT_GE(shown("tessera_buffer_pool_idle_bytes"), kBytes);
  expect_valid(metrics.to_text(nullptr));
}

TEST(MetricsTest, ShowsWhatTheServerDoes) {
  const Metrics metrics({}, Clock::WallTime());
  const FixedLoad load;
  const std::string text = metrics.to_text(&load);
  EXPECT_TRUE(has(text, "tessera_workers 4"));
  EXPECT_TRUE(has(text, "tessera_workers_busy 3"));
  EXPECT_TRUE(has(text, "tessera_calls_waiting 2"));
  EXPECT_TRUE(has(text, "tessera_codecs 8"));
  EXPECT_TRUE(has(text, "tessera_codecs_busy 1"));
  EXPECT_TRUE(has(text, "tessera_codecs_waiting 0"));
  EXPECT_TRUE(has(text, "tessera_connections 17"));
  EXPECT_TRUE(has(text, "tessera_bodies_bytes 4096"));
  EXPECT_TRUE(has(text, "tessera_bodies_limit_bytes 8192"));
  expect_valid(text);
}

TEST(MetricsTest, AddsUpWhatThreadsCounted) {
  Metrics metrics({"a"}, Clock::WallTime());
  constexpr int kCounting = 8;
  constexpr int kRequestsEach = 1000;
  {
    std::vector<std::jthread> threads;
    threads.reserve(kCounting);
    for (int i = 0; i < kCounting; ++i) {
      threads.emplace_back([&metrics] {
        RequestReport report = answered({RouteKind::kApply, 0}, 200);
        report.received_bytes = 1;
        for (int request = 0; request < kRequestsEach; ++request) {
          count(metrics, report);
        }
      });
    }
  }
  const std::string text = metrics.to_text(nullptr);
  EXPECT_TRUE(has(text, R"(tessera_requests_total{tesseract="a",endpoint="apply",status="200"} 8000)"));
  EXPECT_TRUE(has(text, R"(tessera_request_seconds_count{tesseract="a",endpoint="apply"} 8000)"));
  EXPECT_TRUE(has(text, "tessera_received_bytes_total 8000"));
}

TEST(TimeHistogramTest, PutsATimeIntoTheBucketThatHoldsIt) {
  const auto bucket_of = [](nanoseconds time) {
    TimeHistogram histogram;
    histogram.add(time);
    HistogramCounts counts;
    histogram.add_to(counts);
    for (std::size_t i = 0; i < counts.counts.size(); ++i) {
      if (counts.counts[i] == 1) {
        return i;
      }
    }
    return counts.counts.size();
  };
  constexpr std::size_t kLast = HistogramCounts::kBuckets - 1;
  EXPECT_EQ(bucket_of(nanoseconds(-5)), 0U);
  EXPECT_EQ(bucket_of(nanoseconds(0)), 0U);
  EXPECT_EQ(bucket_of(nanoseconds(1000)), 0U);
  EXPECT_EQ(bucket_of(nanoseconds(1001)), 1U);
  EXPECT_EQ(bucket_of(microseconds(2)), 1U);
  EXPECT_EQ(bucket_of(nanoseconds(2001)), 2U);
  EXPECT_EQ(bucket_of(microseconds(1024)), 10U);
  EXPECT_EQ(bucket_of(microseconds(1025)), 11U);
  EXPECT_EQ(bucket_of(microseconds(1 << 26)), kLast - 1);
  EXPECT_EQ(bucket_of(microseconds((1 << 26) + 1)), kLast);
  EXPECT_EQ(bucket_of(std::chrono::hours(10)), kLast);
}

TEST(PrometheusTextTest, WritesAHistogramOnlyIfItCounted) {
  std::string text;
  append_histogram(text, "x", "a=\"b\"", HistogramCounts{});
  EXPECT_EQ(text, "");
}

}  // namespace
}  // namespace tessera
