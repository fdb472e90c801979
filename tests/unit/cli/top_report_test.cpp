// What `tessera top` makes of two looks at a server's metrics.
#include "top_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "metrics_text.h"
#include "server_url.h"
#include "terminal_screen.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TopLook look_at(const std::string& text, double at_s) {
  const std::optional<MetricsText> metrics = MetricsText::parse(text);
  EXPECT_TRUE(metrics.has_value()) << text;
  return {metrics.value_or(MetricsText{}), at_s};
}

// A histogram of calls that took up to 1 ms, up to 2 ms, and longer.
std::string histogram(const std::string& name, const std::string& labels, int first, int second, int last) {
  const auto line = [&](const std::string& bound, int count) {
    return name + "_bucket{" + labels + ",le=\"" + bound + "\"} " + std::to_string(count) + "\n";
  };
  return line("0.001", first) + line("0.002", first + second) + line("+Inf", first + second + last) + name + "_sum{" +
         labels + "} 1.5\n" + name + "_count{" + labels + "} " + std::to_string(first + second + last) + "\n";
}

std::string metrics_of(int calls, const std::string& start = "1000.5") {
  return "# TYPE tessera_build_info gauge\ntessera_build_info{version=\"9.8.7\"} 1\nprocess_start_time_seconds " +
         start +
         "\ntessera_workers 4\ntessera_workers_busy 3\ntessera_calls_waiting 2\ntessera_connections 17\n"
         "tessera_bodies_bytes 2048\ntessera_bodies_limit_bytes 4294967296\n"
         "tessera_buffer_pool_used_bytes 1048576\ntessera_buffer_pool_idle_bytes 0\n"
         "tessera_requests_total{tesseract=\"heat\",endpoint=\"apply\",status=\"200\"} " +
         std::to_string(calls) +
         "\ntessera_requests_total{tesseract=\"heat\",endpoint=\"apply\",status=\"422\"} 6\n"
         "tessera_requests_total{tesseract=\"\",endpoint=\"health\",status=\"200\"} 1\n" +
         histogram("tessera_request_seconds", R"(tesseract="heat",endpoint="apply")", calls, 0, 0) +
         histogram("tessera_request_part_seconds", R"(endpoint="apply",part="compute")", 0, calls, 0) +
         histogram("tessera_request_part_seconds", R"(endpoint="apply",part="receive")", calls, 0, 0) +
         histogram("tessera_request_part_seconds", R"(endpoint="health",part="receive")", 0, 0, 100 * calls) +
         "tessera_array_received_bytes_total{encoding=\"base64\"} " + std::to_string(calls * 1024) +
         "\ntessera_array_sent_bytes_total{encoding=\"base64\"} 0\ntessera_array_sent_bytes_total{encoding=\"binref\"} "
         "0\n"
         "tessera_received_bytes_total 0\ntessera_sent_bytes_total 0\ntessera_requests_cut_off_total 5\n"
         "tessera_limit_hits_total{limit=\"idle_time\"} " +
         std::to_string(calls / 50) + "\ntessera_limit_hits_total{limit=\"waiting_calls\"} 0\n";
}

TEST(TopReportTest, GivesWhatHappenedBetweenTwoLooks) {
  const TopLook before = look_at(metrics_of(100), 2000);
  const TopReport report = make_top_report("http://h:1", &before, look_at(metrics_of(300), 2002));
  EXPECT_EQ(report.version, "9.8.7");
  EXPECT_EQ(report.uptime_s, 1001.5);
  EXPECT_EQ(report.seconds, 2);
  EXPECT_FALSE(report.is_since_start);
  EXPECT_EQ(report.busy_workers, 3);
  EXPECT_EQ(report.connections, 17);
  ASSERT_EQ(report.endpoints.size(), 2U);
  EXPECT_EQ(report.endpoints[0].endpoint, "health");
  EXPECT_EQ(report.endpoints[0].requests, 0);
  EXPECT_EQ(report.endpoints[0].times.p50_s, std::nullopt);
  EXPECT_EQ(report.endpoints[1].tesseract, "heat");
  EXPECT_EQ(report.endpoints[1].requests, 100);
  EXPECT_EQ(report.endpoints[1].errors, 0);
  EXPECT_DOUBLE_EQ(report.endpoints[1].times.p50_s.value_or(0), 0.0005);
  EXPECT_DOUBLE_EQ(report.endpoints[1].times.p99_s.value_or(0), 0.00099);
  ASSERT_EQ(report.arrays.size(), 2U);
  EXPECT_EQ(report.arrays[0].name, "base64");
  EXPECT_EQ(report.arrays[0].received_bytes, 102400);
  EXPECT_EQ(report.endpoints[1].statuses, (std::map<std::string, double>{{"200", 100}, {"422", 0}}));
  EXPECT_EQ(report.bodies_bytes, 2048);
  EXPECT_EQ(report.bodies_limit_bytes, 4294967296);
  EXPECT_EQ(report.limits.at("idle_time").hits, 6);
  EXPECT_EQ(report.limits.at("idle_time").hits_per_second, 2);
  EXPECT_EQ(report.cut_off, 5);
  EXPECT_FALSE(report.gpu.has_value());
}

TEST(TopReportTest, SplitsTheTimeOfCallsAlone) {
  const TopReport report = make_top_report("x", nullptr, look_at(metrics_of(100), 2000.5));
  ASSERT_EQ(report.parts.size(), 6U);
  EXPECT_EQ(report.parts[0].name, "receive");
  EXPECT_DOUBLE_EQ(report.parts[0].times.p50_s.value_or(0), 0.0005);  // those of /health are no calls
  EXPECT_EQ(report.parts[3].name, "compute");
  EXPECT_DOUBLE_EQ(report.parts[3].times.p50_s.value_or(0), 0.0015);
  EXPECT_EQ(report.parts[5].times.p50_s, std::nullopt);
}

TEST(TopReportTest, BeginsAtTheStartWithoutAnEarlierLook) {
  const TopReport report = make_top_report("x", nullptr, look_at(metrics_of(300), 1010.5));
  EXPECT_TRUE(report.is_since_start);
  EXPECT_EQ(report.seconds, 10);
  EXPECT_EQ(report.endpoints[1].requests, 30.6);
  EXPECT_EQ(report.endpoints[1].errors, 0.6);
  EXPECT_EQ(report.endpoints[1].statuses.at("422"), 0.6);
  EXPECT_EQ(report.limits.at("idle_time").hits_per_second, 0.6);
}

TEST(TopReportTest, BeginsAnewWithAServerThatWasStartedAnew) {
  const TopLook before = look_at(metrics_of(300), 2000);
  const TopReport report = make_top_report("x", &before, look_at(metrics_of(4, "2000.5"), 2002.5));
  EXPECT_TRUE(report.is_since_start);
  EXPECT_EQ(report.seconds, 2);
  EXPECT_EQ(report.endpoints[1].requests, 5);
}

TEST(TopReportTest, ShowsAQuantileBeyondTheLastBoundAsThatBound) {
  const TopReport report =
      make_top_report("x", nullptr,
                      look_at("tessera_requests_total{tesseract=\"\",endpoint=\"docs\",status=\"200\"} 1\n" +
                                  histogram("tessera_request_seconds", R"(tesseract="",endpoint="docs")", 0, 0, 3),
                              1));
  EXPECT_DOUBLE_EQ(report.endpoints.at(0).times.p99_s.value_or(0), 0.002);
}

TEST(TopReportTest, PrintsATableThatFitsATerminal) {
  const TopLook before = look_at(metrics_of(100), 2000);
  const std::string text = text_of(make_top_report("http://h:1", &before, look_at(metrics_of(300), 2002)));
  EXPECT_THAT(text, HasSubstr("http://h:1  tessera 9.8.7  up 16 min 41 s\n"));
  EXPECT_THAT(text, HasSubstr("workers 3 of 4 busy, 2 calls waiting; connections 17\n"));
  EXPECT_THAT(text, HasSubstr("heat/apply                             100         0.0      500 us      990 us\n"));
  EXPECT_THAT(text, HasSubstr("compute                             1.5 ms      2.0 ms\n"));
  EXPECT_THAT(text, HasSubstr("arrays as base64                 100.0 KiB         0 B\n"));
  EXPECT_THAT(text, Not(HasSubstr("binref")));  // none went
  EXPECT_THAT(text, HasSubstr("host pool 1.0 MiB used, 0 B idle\n"));
  EXPECT_THAT(text, HasSubstr("0 requests waiting; bodies 2.0 KiB of 4.0 GiB\n"));
  EXPECT_THAT(text, HasSubstr("limit                               hits/s since start\n"
                              "idle_time                              2.0           6\n"));
  EXPECT_THAT(text, Not(HasSubstr("waiting_calls")));  // was never hit
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_LE(line.size(), 80U) << line;
  }
}

TEST(TopReportTest, PrintsStatusesOfAnEndpointThatAnswersOthersThan200) {
  const TopLook before = look_at(metrics_of(0), 2000);
  std::string later = metrics_of(200);
  later.replace(later.find("\"422\"} 6"), 8, "\"422\"} 9");
  const std::string text = text_of(make_top_report("x", &before, look_at(later, 2002)));
  EXPECT_THAT(text, HasSubstr("heat/apply                             102         1.5      500 us      990 us\n"
                              "  200 100/s, 422 1.5/s\n"));
}

TEST(TopReportTest, SaysThatNoLimitWasHit) {
  EXPECT_THAT(text_of(make_top_report("x", nullptr, look_at(metrics_of(0), 2000))),
              ::testing::EndsWith("limits hit since its start: none\n"));
}

TEST(TopReportTest, ShowsGpuMemoryOfAServerThatLendsIt) {
  const std::string gpu =
      "tessera_export_leases 3\ntessera_export_bytes 2048\ntessera_gpu_pool_used_bytes "
      "4096\ntessera_gpu_pool_idle_bytes 0\n";
  const TopReport report = make_top_report("x", nullptr, look_at(metrics_of(1) + gpu, 2000));
  ASSERT_TRUE(report.gpu.has_value());
  EXPECT_THAT(text_of(report), HasSubstr("GPU pools 4.0 KiB used, 0 B idle; 3 leases of 2.0 KiB\n"));
  EXPECT_EQ(nlohmann::json::parse(json_of(report))["gpu"]["lent_bytes"], 2048);
}

TEST(TopReportTest, PrintsNoControlCharactersOfAForeignServer) {
  const std::string bad = "a\x1b[2J\r\t\x7f\xc2\x9bz\xc3\xa4";
  const std::string shown = "a?[2J????z\xc3\xa4";
  const TopReport report =
      make_top_report("x", nullptr,
                      look_at("process_start_time_seconds 1\ntessera_build_info{version=\"" + bad + "\"} 1\n" +
                                  "tessera_requests_total{tesseract=\"" + bad + "\",endpoint=\"" + bad +
                                  "\",status=\"" + bad + "\"} 1\ntessera_array_sent_bytes_total{encoding=\"" + bad +
                                  "\"} 1\ntessera_limit_hits_total{limit=\"" + bad + "\"} 1\n",
                              2));
  const std::string text = text_of(report);
  const std::pair<const char*, const char*> places[] = {
      {"tessera ", "  up"}, {"\n", "/a?["}, {"  ", " 1.0/s"}, {"arrays as ", " "}, {"\n", "  "}};
  for (const auto& [before, after] : places) {
    EXPECT_THAT(text, HasSubstr(std::string(before).append(shown).append(after)));
  }
  EXPECT_EQ(text.find_first_of("\x1b\r\t\x7f"), std::string::npos);
  EXPECT_EQ(text.find("\xc2\x9b"), std::string::npos);
}

TEST(TopReportTest, PrintsAQuestionMarkForFiguresThatMakeNoSense) {
  for (const std::string figure : {"nan", "NaN", "-1", "+Inf", "-inf"}) {
    std::string metrics = "tessera_workers_busy 0\n";
    for (const char* name : {"tessera_workers", "tessera_bodies_bytes", "tessera_buffer_pool_used_bytes",
                             "tessera_requests_cut_off_total"}) {
      metrics.append(name).append(" ").append(figure).append("\n");
    }
    const std::string text = text_of(make_top_report("x", nullptr, look_at(metrics, 2000)));
    EXPECT_THAT(text, HasSubstr("workers 0 of ? busy")) << figure;
    EXPECT_THAT(text, HasSubstr("bodies ? of 0 B")) << figure;
    EXPECT_THAT(text, HasSubstr("host pool ? used")) << figure;
    EXPECT_THAT(text, HasSubstr("cut off since its start: ?\n")) << figure;
  }
  const TopReport report = make_top_report("x", nullptr, look_at("process_start_time_seconds -inf\n", 2000));
  EXPECT_THAT(text_of(report), HasSubstr("up ?\n"));
}

TEST(TopReportTest, LeavesOutBucketsWhoseBoundIsNoNumber) {
  const std::string bucket = R"(tessera_request_seconds_bucket{tesseract="heat",endpoint="apply",le=")";
  const TopReport report = make_top_report(
      "x", nullptr,
      look_at(metrics_of(100) + bucket + "soon\"} 100\n" + bucket + "nan\"} 100\n" + bucket + "\"} 100\n", 2000));
  EXPECT_DOUBLE_EQ(report.endpoints.at(1).times.p50_s.value_or(0), 0.0005);
}

TEST(TopReportTest, TakesNoLongerThanItsSeriesAreMany) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) {
    const std::string labels = R"(tesseract="heat",endpoint="e)" + std::to_string(i) + "\"";
    text += "tessera_requests_total{" + labels + ",status=\"200\"} 1\n" +
            histogram("tessera_request_seconds", labels, 1, 0, 0);
  }
  const TopLook before = look_at(text, 1);
  const TopLook now = look_at(text, 2);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(make_top_report("x", &before, now).endpoints.size(), 20'000U);
  // What compares each with each takes minutes; this, far less than a second.
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(10));
}

TEST(TopReportTest, PrintsOneLineOfJson) {
  const std::string json = json_of(make_top_report("x", nullptr, look_at(metrics_of(100), 2000.5)));
  EXPECT_EQ(json.find('\n'), std::string::npos);
  const auto document = nlohmann::json::parse(json);
  EXPECT_EQ(document["endpoints"][1]["endpoint"], "apply");
  EXPECT_EQ(document["endpoints"][0]["p50_seconds"], nullptr);
  EXPECT_EQ(document["endpoints"][1]["statuses_per_second"]["200"], 0.1);
  EXPECT_EQ(document["bodies_limit_bytes"], 4294967296);
  EXPECT_EQ(document["limits"]["waiting_calls"]["hits"], 0);
  EXPECT_EQ(document["limits"]["idle_time"]["hits_per_second"], 0.002);
  EXPECT_EQ(document["gpu"], nullptr);
}

TEST(MetricsTextTest, ReadsSamplesWithAndWithoutLabels) {
  const auto metrics = MetricsText::parse("# HELP a text\na 1.5\n\nb{x=\"1\",y=\"\"} 2e-06\nc{le=\"+Inf\"} 3");
  ASSERT_TRUE(metrics.has_value());
  ASSERT_EQ(metrics->samples.size(), 3U);
  EXPECT_EQ(metrics->value("a"), 1.5);
  EXPECT_EQ(metrics->value("z"), std::nullopt);
  EXPECT_EQ(metrics->samples[1].label("x"), "1");
  EXPECT_EQ(metrics->samples[1].label("z"), "");
  EXPECT_EQ(metrics->samples[1].value, 2e-06);
  EXPECT_EQ(metrics->samples[2].value, 3);
}

TEST(MetricsTextTest, RefusesWhatIsNone) {
  for (const char* text : {"<html>", "a", "a b", "a{x=\"1\" 2", "a{x} 1", "{x=\"1\"} 1", "a 1 2", "a  1"}) {
    EXPECT_FALSE(MetricsText::parse(text).has_value()) << text;
  }
}

TEST(ServerUrlTest, LosesItsLastName) {
  EXPECT_EQ(without_last_name("http://h:1/a/b"), "http://h:1/a");
  EXPECT_EQ(without_last_name("http://h:1/a/"), "http://h:1");
  EXPECT_EQ(without_last_name("h:1/a?b/c"), "h:1");
  EXPECT_EQ(without_last_name("unix:/run/s:/a/b"), "unix:/run/s:/a");
  EXPECT_EQ(without_last_name("unix:/run/s:/a"), "unix:/run/s");
  for (const char* url : {"http://h:1", "http://h:1/", "h:1", "unix:/run/s", "unix:s"}) {
    EXPECT_EQ(without_last_name(url), std::nullopt) << url;
  }
}

TEST(TerminalScreenTest, CutsAFrameToTheTerminal) {
  EXPECT_EQ(frame_of("abcdef\nxy\nlast\n", 2, 4), "\x1b[Habcd\x1b[K\nxy\x1b[K\x1b[J");
  EXPECT_EQ(frame_of("a\n", 24, 80), "\x1b[Ha\x1b[K\x1b[J");
}

}  // namespace
}  // namespace tessera
