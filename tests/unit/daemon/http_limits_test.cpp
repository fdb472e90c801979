#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "tessera/base/unique_fd.h"
#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

// For what has to happen at some time, on a machine that may be busy. What must not happen before its time is measured
// from before the time began, so that nothing here has to be fast.
constexpr seconds kTestPatience{30};

// Sends a little again and again until the server has closed the connection, whatever it has sent before.
bool is_closed_for_sending(RawConnection& client) {
  const auto deadline = SteadyClock::now() + kTestPatience;
  while (SteadyClock::now() < deadline) {
    if (!client.send("x")) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(20));
  }
  return false;
}

TEST(HttpLimitsTest, RefusesAnAnnouncedBodyUnread) {
  const TestServer test({.body_bytes = 1000});
  RawConnection client = test.connect();
  const auto response = client.exchange("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\n\r\n{");
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 413);
  EXPECT_THAT(response.body, HasSubstr("1001"));
  EXPECT_EQ(response.headers.at("content-type"), "application/json");
  EXPECT_TRUE(client.is_closed_within(kTestPatience));
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].status, 413);
  EXPECT_EQ(reports[0].limit, Limit::kBodyBytes);
}

TEST(HttpLimitsTest, DoesNotSayContinueForABodyThatIsTooLarge) {
  const TestServer test({.body_bytes = 1000});
  RawConnection client = test.connect();
  const auto response =
      client.exchange("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 413);
}

TEST(HttpLimitsTest, RefusesAChunkedBodyAsItGrows) {
  const TestServer test({.body_bytes = 1000});
  RawConnection client = test.connect();
  const std::string chunk = "1f4\r\n" + std::string(500, 'a') + "\r\n";
  const auto response =
      client.exchange("POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk + chunk + chunk);
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 413);
}

TEST(HttpLimitsTest, TakesABodyOfExactlyTheLimit) {
  const TestServer test({.body_bytes = 1000});
  const auto response = test.connect().exchange(post("/echo", std::string(1000, 'a')));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 200);
}

TEST(HttpLimitsTest, TakesHeadersUpToTheLimit) {
  const TestServer test;
  const auto response = test.connect().exchange(get("/health", "X-Filler: " + std::string(64'000, 'a') + "\r\n"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 200);
}

TEST(HttpLimitsTest, RefusesHeadersBeyondTheLimit) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response = client.exchange(get("/health", "X-Filler: " + std::string(1'000'000, 'a') + "\r\n"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 431);
  EXPECT_EQ(test.service.limits_hit(Limit::kHeaderValueBytes), 1U);
  EXPECT_TRUE(client.is_closed_within(kTestPatience));
}

TEST(HttpLimitsTest, RefusesARequestLineBeyondTheLimit) {
  const TestServer test;
  const auto response = test.connect().exchange(get("/" + std::string(1'000'000, 'a')));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 414);
  EXPECT_EQ(test.service.limits_hit(Limit::kRequestLineBytes), 1U);
}

// In one piece, too, with its end in it, and whatever stands behind the limit.
TEST(HttpLimitsTest, JudgesAHeadByWhatIsWithinTheLimit) {
  const TestServer test({.header_bytes = 1000});
  const auto long_line = test.connect().exchange(get("/" + std::string(1500, 'a')));
  ASSERT_TRUE(long_line.is_whole());
  EXPECT_EQ(long_line.status, 414);
  const auto long_header = test.connect().exchange(get("/health", "X-Filler: " + std::string(1500, 'a') + "\r\n"));
  ASSERT_TRUE(long_header.is_whole());
  EXPECT_EQ(long_header.status, 431);
  const auto bad_behind = test.connect().exchange(get("/health", "X-Filler: " + std::string(1500, 'a') + "\nbad\r\n"));
  ASSERT_TRUE(bad_behind.is_whole());
  EXPECT_EQ(bad_behind.status, 431);
}

TEST(HttpLimitsTest, TakesAsManyHeadersAsItIsTold) {
  const TestServer test({.headers = 3});
  EXPECT_EQ(test.connect().exchange(get("/health", "A: b\r\nC: d\r\n")).status, 200);
  RawConnection client = test.connect();
  const auto refusal = client.exchange(get("/health", "A: b\r\nC: d\r\nE: f\r\n"));
  EXPECT_EQ(refusal.status, 431);
  EXPECT_EQ(refusal.body, "{\"detail\":\"there are more than 3 headers\"}");
  EXPECT_EQ(test.service.limits_hit(Limit::kHeaders), 1U);
  EXPECT_TRUE(client.is_closed_within(kTestPatience));
}

TEST(HttpLimitsTest, RefusesConnectionsBeyondTheLimit) {
  const TestServer test({.connections = 2});
  RawConnection first = test.connect();
  RawConnection second = test.connect();
  EXPECT_TRUE(first.exchange(get("/health")).is_whole());
  EXPECT_TRUE(second.exchange(get("/health")).is_whole());
  RawConnection third = test.connect();
  const auto refusal = third.exchange(get("/health"));
  ASSERT_TRUE(refusal.is_whole());
  EXPECT_EQ(refusal.status, 503);
  EXPECT_EQ(refusal.headers.at("connection"), "close");
  EXPECT_TRUE(first.exchange(get("/health")).is_whole());
}

TEST(HttpLimitsTest, ServesAgainOnceAConnectionIsClosed) {
  const TestServer test({.connections = 1});
  for (int i = 0; i < 20; ++i) {
    RawConnection client = test.connect();
    auto response = client.exchange(get("/health", "Connection: close\r\n"));
    const auto deadline = SteadyClock::now() + kTestPatience;
    while ((!response.is_whole() || response.status == 503) && SteadyClock::now() < deadline) {
      client = test.connect();
      response = client.exchange(get("/health", "Connection: close\r\n"));
    }
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.status, 200);
  }
}

TEST(HttpLimitsTest, ClosesAnIdleConnectionInTime) {
  const TestServer test({.idle_time = seconds(1)});
  RawConnection client = test.connect();
  const auto start = SteadyClock::now();
  EXPECT_TRUE(client.exchange(get("/health")).is_whole());
  EXPECT_TRUE(client.is_closed_within(kTestPatience));
  EXPECT_GE(SteadyClock::now() - start, seconds(1));
}

TEST(HttpLimitsTest, GivesANewConnectionMoreTimeThanAnIdleOne) {
  const TestServer test({.idle_time = seconds(1)});
  const auto start = SteadyClock::now();
  RawConnection client = test.connect();
  EXPECT_TRUE(client.is_closed_within(kTestPatience));
  EXPECT_GE(SteadyClock::now() - start, seconds(4));
}

TEST(HttpLimitsTest, ClosesAConnectionWhoseHeadersTakeTooLong) {
  const TestServer test({.header_time = seconds(1)});
  RawConnection client = test.connect();
  client.send("GET /health HTTP/1.1\r\nHost: ");
  // A byte now and then does not help.
  EXPECT_TRUE(is_closed_for_sending(client));
}

TEST(HttpLimitsTest, ClosesAConnectionWhoseBodyStops) {
  const TestServer test({.body_progress_time = seconds(1)});
  for (const std::size_t length : {std::size_t{100}, std::size_t{100'000}}) {
    RawConnection client = test.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n{");
    EXPECT_TRUE(client.is_closed_within(kTestPatience));
  }
}

TEST(HttpLimitsTest, ClosesAConnectionThatDoesNotTakeItsAnswer) {
  const TestServer test({.body_progress_time = seconds(1)});
  RawConnection client = test.connect();
  client.send(post("/large?30000000", ""));
  EXPECT_TRUE(is_closed_for_sending(client));
  EXPECT_FALSE(client.read_response().is_whole());
}

TEST(HttpLimitsTest, LetsACallTakeLongerThanAnyLimit) {
  TestServer test({.idle_time = seconds(1), .header_time = seconds(1), .body_progress_time = seconds(1)});
  RawConnection client = test.connect();
  client.send(post("/wait", "x"));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  EXPECT_TRUE(client.is_silent_for(seconds(2)));
  test.service.gate.open();
  EXPECT_TRUE(client.read_response().is_whole());
}

// Takes all descriptors there are.
void take_descriptors(std::vector<UniqueFd>& taken) {
  while (true) {
    UniqueFd copy = UniqueFd::adopt(::dup(STDERR_FILENO));
    if (!copy.is_open()) {
      return;
    }
    taken.push_back(std::move(copy));
  }
}

TEST(HttpLimitsTest, OutlivesALackOfDescriptors) {
  const TestServer test;
  const int warnings = test.logger.warnings;
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  ::rlimit small = before;
  small.rlim_cur = 64;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &small), 0);
  // All descriptors but one are taken, and that one is the client's: none is left for the server's side.
  std::vector<UniqueFd> taken;
  take_descriptors(taken);
  // A thread that begins has files of the system open for a moment, whose descriptors come back.
  std::this_thread::sleep_for(milliseconds(200));
  take_descriptors(taken);
  ASSERT_FALSE(taken.empty());
  taken.pop_back();
  RawConnection client = test.connect();
  ASSERT_TRUE(client.is_connected());
  client.send(get("/health"));
  for (const auto deadline = SteadyClock::now() + kTestPatience;
       test.logger.warnings == warnings && SteadyClock::now() < deadline;) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(test.logger.warnings, warnings + 1);
  EXPECT_EQ(test.service.limits_hit(Limit::kDescriptors), 1U);
  EXPECT_TRUE(client.is_silent_for(milliseconds(300)));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(client.read_response().is_whole());
}

TEST(HttpLimitsTest, RefusesOptionsThatCannotBe) {
  const SystemClock clock;
  SilentLogger logger;
  TestService service;
  EXPECT_EQ(HttpServer::start({.workers = 0}, service, logger, clock).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(HttpServer::start({.bodies_bytes = 0}, service, logger, clock).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(HttpServer::start({.headers = 0}, service, logger, clock).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(HttpServer::start({.serve_tcp = false}, service, logger, clock).error().code(),
            ErrorCode::kInvalidArgument);
  EXPECT_EQ(HttpServer::start({.host = "no such host"}, service, logger, clock).error().code(),
            ErrorCode::kInvalidArgument);
}

TEST(HttpLimitsTest, ClosesAConnectionWhoseBodyTrickles) {
  const TestServer test({.body_bytes_per_second = 1000, .body_rate_time = seconds(1)});
  RawConnection client = test.connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n{");
  EXPECT_TRUE(is_closed_for_sending(client));
}

TEST(HttpLimitsTest, TakesABodyThatIsSlowButFastEnough) {
  const TestServer test({.body_bytes_per_second = 1, .body_rate_time = seconds(1)});
  RawConnection client = test.connect();
  // What comes with the head has earned its time, however long the rest takes to be sent.
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n" + std::string(250, 'x'));
  for (int i = 0; i < 3; ++i) {
    std::this_thread::sleep_for(milliseconds(500));
    client.send(std::string(250, 'x'));
  }
  EXPECT_EQ(client.read_response().status, 200);
}

TEST(HttpLimitsTest, DoesNotMixUpRequestsWhateverTheLimitIs) {
  const TestServer test({.body_bytes = UINT64_MAX});
  RawConnection client = test.connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551615\r\n\r\n" + get("/health"));
  const auto response = client.read_response();
  ASSERT_TRUE(response.is_whole());
  EXPECT_TRUE(response.status == 413 || response.status == 503) << response.status;
  EXPECT_TRUE(client.is_closed_within(kTestPatience));
}

TEST(HttpLimitsTest, ReadsAHugeBodyBehindItsFirstBytes) {
  const TestServer test;
  RawConnection client = test.connect();
  const std::string body(std::size_t{9} << 20, 'a');
  for (int i = 0; i < 2; ++i) {
    const auto response = client.exchange(post("/echo", body));
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.body, body);
  }
}

TEST(HttpLimitsTest, GivesWayToNewConnectionsAtTheLimit) {
  const TestServer test({.connections = 1, .idle_time = seconds(15)});
  const auto start = SteadyClock::now();
  RawConnection silent = test.connect();
  int status = 503;
  while (status == 503 && SteadyClock::now() < start + kTestPatience) {
    std::this_thread::sleep_for(milliseconds(100));
    status = test.connect().exchange(get("/health")).status;
  }
  EXPECT_EQ(status, 200);
  EXPECT_GE(SteadyClock::now() - start, seconds(1));
  EXPECT_TRUE(silent.is_closed_within(kTestPatience));
}

}  // namespace
}  // namespace tessera
