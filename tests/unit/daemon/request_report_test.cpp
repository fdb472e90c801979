// What a server reports of each request when it is over, and the id that its answer carries.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>

#include "request_id.h"
#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::MatchesRegex;

constexpr const char* kMadeId = "[0-9a-f]{32}";

TEST(RequestReportTest, AnAnswerCarriesTheIdThatItsClientChose) {
  const TestServer test;
  RawConnection client = test.connect();
  const std::string longest(128, 'x');
  for (const std::string& id : {std::string("a"), std::string("Root=1-67891233-abc:def/0.1+2@~,;_"), longest}) {
    EXPECT_EQ(client.exchange(post("/echo", "x", "X-Request-ID: " + id + "\r\n")).headers["x-request-id"], id);
  }
  // Also where the head has to make way for a body.
  const std::string large(std::size_t{5} << 20, 'a');
  EXPECT_EQ(client.exchange(post("/echo", large, "X-Request-Id: mine\r\n")).headers["x-request-id"], "mine");
  const auto reports = test.service.reports(4);
  ASSERT_EQ(reports.size(), 4U);
  EXPECT_EQ(reports[0].id, "a");
  EXPECT_EQ(reports[3].id, "mine");
  EXPECT_EQ(reports[3].target, "/echo");
}

TEST(RequestReportTest, AnAnswerHasAnIdOfOursWhereTheClientHasNoneThatWillDo) {
  const TestServer test;
  RawConnection client = test.connect();
  std::string last;
  for (const std::string& header :
       {std::string(), std::string("X-Request-Id:\r\n"), std::string("X-Request-Id: two words\r\n"),
        std::string("X-Request-Id: \"quoted\"\r\n"), "X-Request-Id: " + std::string(129, 'x') + "\r\n"}) {
    const std::string id = client.exchange(get("/health", header)).headers["x-request-id"];
    EXPECT_THAT(id, MatchesRegex(kMadeId)) << header;
    EXPECT_NE(id, last);
    last = id;
  }
}

TEST(RequestReportTest, RefusalsHaveAnIdToo) {
  const TestServer test({.body_bytes = 10, .connections = 1});
  RawConnection client = test.connect();
  EXPECT_TRUE(client.exchange(get("/health")).is_whole());
  EXPECT_THAT(test.connect().exchange(get("/health")).headers["x-request-id"], MatchesRegex(kMadeId));
  EXPECT_EQ(client.exchange(post("/echo", "longer than 10", "X-Request-Id: mine\r\n")).headers["x-request-id"], "mine");
  RawConnection other = test.connect();
  while (other.exchange("garbage\r\n").status != 400) {
    other = test.connect();  // the first one may not have gone yet
  }
}

TEST(RequestReportTest, SaysWhoAskedForWhatAndHowMuchWent) {
  const TestServer test;
  const std::string request = post("/echo?a=b", "12345");
  const auto response = test.connect().exchange(request);
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  const OwnedReport& report = reports[0];
  EXPECT_EQ(report.id, response.headers.at("x-request-id"));
  EXPECT_EQ(report.method, "POST");
  EXPECT_EQ(report.target, "/echo?a=b");
  EXPECT_THAT(report.peer, ::testing::StartsWith("127.0.0.1:"));
  EXPECT_EQ(report.status, 200);
  EXPECT_TRUE(report.is_sent);
  EXPECT_EQ(report.received_bytes, request.size());
  EXPECT_GT(report.sent_bytes, response.body.size() + 100);
  EXPECT_EQ(report.limit, Limit::kNone);
  for (const RequestPart part : {RequestPart::kReceive, RequestPart::kDecode, RequestPart::kWait, RequestPart::kCompute,
                                 RequestPart::kEncode, RequestPart::kSend}) {
    EXPECT_TRUE(report.times.has(part)) << name_of(part);
  }
}

TEST(RequestReportTest, CountsTheBytesOfEachKindOfBody) {
  const TestServer test;
  RawConnection client = test.connect();
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const std::size_t large = std::size_t{5} << 20;
  const std::string huge_head = head + "Content-Length: " + std::to_string(large) + "\r\n\r\n";
  EXPECT_TRUE(client.exchange(huge_head + std::string(large, 'a')).is_whole());
  const std::string chunked_head = head + "Transfer-Encoding: chunked\r\n\r\n";
  EXPECT_TRUE(client.exchange(chunked_head + "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").is_whole());
  const auto reports = test.service.reports(2);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].received_bytes, huge_head.size() + large);
  EXPECT_GT(reports[0].sent_bytes, large);
  EXPECT_EQ(reports[1].received_bytes, chunked_head.size() + 5);
}

TEST(RequestReportTest, BeginsAtTheFirstByteOfTheHead) {
  const TestServer test;
  RawConnection client = test.connect();
  EXPECT_TRUE(client.exchange(get("/health")).is_whole());
  std::this_thread::sleep_for(milliseconds(300));  // idle: of no request
  const std::string request = post("/echo", "x");
  client.send(request.substr(0, 3));
  std::this_thread::sleep_for(milliseconds(100));
  client.send(request.substr(3));
  EXPECT_TRUE(client.read_response().is_whole());
  const auto reports = test.service.reports(2);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_GE(reports[1].times.of(RequestPart::kReceive), milliseconds(95));
  EXPECT_LT(reports[1].times.of(RequestPart::kReceive), milliseconds(290));
  EXPECT_GE(reports[1].times.whole(), reports[1].times.of(RequestPart::kReceive));
}

TEST(RequestReportTest, TellsWaitingFromComputing) {
  TestServer test;
  RawConnection first = test.connect();
  RawConnection second = test.connect();
  first.send(post("/wait", "x"));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  second.send(post("/echo", "y"));
  ASSERT_TRUE(test.service.wait_for_begun(2));
  EXPECT_EQ(test.connect().exchange(get("/load")).body.substr(0, 23), "1 of 1 busy, 1 waiting,");
  std::this_thread::sleep_for(milliseconds(100));
  test.service.gate.open();
  EXPECT_TRUE(first.read_response().is_whole());
  EXPECT_TRUE(second.read_response().is_whole());
  for (const OwnedReport& report : test.service.reports(3)) {
    if (report.target == "/wait") {
      EXPECT_GE(report.times.of(RequestPart::kCompute), milliseconds(95));
      EXPECT_LT(report.times.of(RequestPart::kWait), milliseconds(50));
    } else if (report.target == "/echo") {
      EXPECT_GE(report.times.of(RequestPart::kWait), milliseconds(95));
      EXPECT_LT(report.times.of(RequestPart::kCompute), milliseconds(50));
    } else {
      EXPECT_FALSE(report.times.has(RequestPart::kCompute));
      EXPECT_FALSE(report.times.has(RequestPart::kWait));
    }
  }
}

TEST(RequestReportTest, CountsTheTimeUntilAnAnswerIsTaken) {
  const TestServer test;
  RawConnection client = test.connect();
  client.send(post("/large?50000000", ""));
  while (test.service.answers == 0) {
    std::this_thread::sleep_for(milliseconds(1));
  }
  std::this_thread::sleep_for(milliseconds(200));
  EXPECT_TRUE(client.read_response().is_whole());
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_GE(reports[0].times.of(RequestPart::kSend), milliseconds(150));
}

TEST(RequestReportTest, ReportsWhatGotNoAnswer) {
  const TestServer test;
  RawConnection client = test.connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  std::this_thread::sleep_for(milliseconds(50));
  client.close();
  RawConnection silent = test.connect();
  silent.close();  // no request at all
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].status, 0);
  EXPECT_FALSE(reports[0].is_sent);
  EXPECT_EQ(reports[0].target, "/echo");
  EXPECT_EQ(test.service.answers, 0);
}

TEST(RequestReportTest, CountsWhatCameOfARequestThatNeverCameWhole) {
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\n";
  const std::string large(std::size_t{5} << 20, 'a');
  struct Case {
    std::string sent;
    std::size_t counted;
  };
  const std::string short_body = head + "Content-Length: 10\r\n\r\nabc";
  const std::string long_body = head + "Content-Length: 200000\r\n\r\n" + std::string(100'000, 'a');
  const std::string huge_body = head + "Content-Length: 9000000\r\n\r\n";
  const std::string chunked_head = head + "Transfer-Encoding: chunked\r\n\r\n";
  const Case cases[] = {
      {short_body, short_body.size()},
      {long_body, long_body.size()},
      {huge_body + "abc", huge_body.size() + 3},
      {huge_body + large, huge_body.size() + large.size()},
      {chunked_head + "5\r\nabcde\r\n5\r\nabc", chunked_head.size() + 8},
      {head, head.size()},
  };
  for (const Case& one : cases) {
    const TestServer test;
    RawConnection client = test.connect();
    client.send(one.sent);
    client.close();
    const auto reports = test.service.reports(1);
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].received_bytes, one.counted) << one.sent.substr(0, 80);
    EXPECT_EQ(reports[0].sent_bytes, 0U);
  }
}

TEST(RequestReportTest, CountsWhatCameOfABodyThatIsRefused) {
  const TestServer test({.body_bytes = 10});
  const std::string request = post("/echo", "longer than 10");
  EXPECT_EQ(test.connect().exchange(request).status, 413);
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].received_bytes, request.size());
}

TEST(RequestReportTest, CountsTheBytesOfRequestsThatComeTogetherOnce) {
  const TestServer test;
  RawConnection client = test.connect();
  const std::string first = post("/echo", "12345");
  const std::string second = get("/health");
  client.send(first + second);
  EXPECT_TRUE(client.read_response().is_whole());
  EXPECT_TRUE(client.read_response().is_whole());
  const auto reports = test.service.reports(2);
  ASSERT_EQ(reports.size(), 2U);
  EXPECT_EQ(reports[0].received_bytes, first.size());
  EXPECT_EQ(reports[1].received_bytes, second.size());
}

TEST(RequestReportTest, ReportsAnAnswerThatWasNotTaken) {
  const TestServer test({.body_progress_time = seconds(1)});
  RawConnection client = test.connect();
  client.send(post("/large?30000000", ""));
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].status, 200);
  EXPECT_FALSE(reports[0].is_sent);
  EXPECT_GT(reports[0].sent_bytes, 0U);
  EXPECT_LT(reports[0].sent_bytes, 30'000'000U);  // what the buffers of both sides hold
  EXPECT_EQ(reports[0].limit, Limit::kAnswerTime);
  EXPECT_EQ(test.service.limits_hit(Limit::kAnswerTime), 1U);
}

TEST(RequestReportTest, NamesTheLimitThatARequestHit) {
  struct Case {
    std::string request;
    int status;
    Limit limit;
  };
  const std::string filler(2000, 'a');
  const Case cases[] = {
      {get("/health", "X-Filler: " + filler + "\r\n"), 431, Limit::kHeaderBytes},
      {get("/" + std::string(100'000, 'a')), 414, Limit::kRequestLineBytes},
      {post("/echo", filler), 413, Limit::kBodyBytes},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n7d0\r\n" + filler + "\r\n0\r\n\r\n", 413,
       Limit::kBodyBytes},
      {"GET /hea", 0, Limit::kHeaderTime},
      {"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc", 0, Limit::kBodyTime},
      {"garbage\r\n", 400, Limit::kNone},
  };
  for (const Case& one : cases) {
    const TestServer test(
        {.body_bytes = 1000, .header_bytes = 1000, .header_time = seconds(1), .body_progress_time = seconds(1)});
    RawConnection client = test.connect();
    client.send(one.request);
    const auto reports = test.service.reports(1);
    ASSERT_EQ(reports.size(), 1U) << one.request.substr(0, 60);
    EXPECT_EQ(reports[0].status, one.status);
    EXPECT_EQ(name_of(reports[0].limit), name_of(one.limit));
    EXPECT_EQ(test.service.limits_hit(one.limit), one.limit == Limit::kNone ? 0U : 1U);
  }
}

TEST(RequestReportTest, NamesTheLimitOfCallsThatWait) {
  TestServer test({.waiting_calls = 0});
  RawConnection client = test.connect();
  client.send(post("/wait", "x"));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  EXPECT_EQ(test.connect().exchange(post("/echo", "y")).status, 503);
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].limit, Limit::kWaitingCalls);
  EXPECT_EQ(test.service.limits_hit(Limit::kWaitingCalls), 1U);
  test.service.gate.open();
  EXPECT_TRUE(client.read_response().is_whole());
}

TEST(RequestReportTest, CountsConnectionsThatHitALimit) {
  const TestServer test({.connections = 1, .idle_time = seconds(1)});
  RawConnection client = test.connect();
  EXPECT_TRUE(client.exchange(get("/health")).is_whole());
  EXPECT_EQ(test.connect().exchange(get("/health")).status, 503);
  EXPECT_EQ(test.service.limits_hit(Limit::kConnections), 1U);
  EXPECT_TRUE(client.is_closed_within(seconds(5)));
  EXPECT_EQ(test.service.limits_hit(Limit::kIdleTime), 1U);
}

TEST(RequestIdTest, IsAWordThatMayStandInALog) {
  EXPECT_TRUE(is_request_id("0"));
  EXPECT_FALSE(is_request_id(""));
  EXPECT_FALSE(is_request_id("a b"));
  EXPECT_FALSE(is_request_id("a\xc3\xa4"));
  EXPECT_FALSE(is_request_id(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace tessera
