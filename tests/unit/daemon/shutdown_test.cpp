#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(ShutdownTest, ClosesIdleConnectionsAtOnce) {
  TestServer test;
  RawConnection fresh = test.connect();
  RawConnection used = test.connect();
  EXPECT_TRUE(used.exchange(get("/health")).is_whole());
  RawConnection begun = test.connect();
  begun.send("GET /hea");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(test.server->stop());
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  for (RawConnection* client : {&fresh, &used, &begun}) {
    EXPECT_TRUE(client->is_closed_within(seconds(5)));
  }
}

TEST(ShutdownTest, AnswersWhatRunsAndClosesThen) {
  TestServer test;
  RawConnection client = test.connect();
  client.send(post("/wait", "answer"));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  std::future<bool> stopped = std::async(std::launch::async, [&] { return test.server->stop(); });
  EXPECT_EQ(stopped.wait_for(milliseconds(200)), std::future_status::timeout);
  test.service.gate.open();
  const auto response = client.read_response();
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "answer");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(client.is_closed_within(seconds(5)));
  EXPECT_TRUE(stopped.get());
}

TEST(ShutdownTest, AnswersWhatWaitsForAWorkerToo) {
  TestServer test;
  RawConnection first = test.connect();
  RawConnection second = test.connect();
  first.send(post("/wait", "first"));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  second.send(post("/echo", "second"));
  ASSERT_TRUE(test.service.wait_for_begun(2));
  std::future<bool> stopped = std::async(std::launch::async, [&] { return test.server->stop(); });
  EXPECT_EQ(stopped.wait_for(milliseconds(100)), std::future_status::timeout);
  test.service.gate.open();
  EXPECT_TRUE(first.read_response().is_whole());
  EXPECT_TRUE(second.read_response().is_whole());
  EXPECT_TRUE(stopped.get());
}

TEST(ShutdownTest, AcceptsNobodyAnyMore) {
  TestServer test;
  const std::uint16_t port = test.server->port();
  RawConnection running = test.connect();
  running.send(post("/wait", "x"));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  std::future<bool> stopped = std::async(std::launch::async, [&] { return test.server->stop(); });
  bool is_refused = false;
  for (int attempt = 0; attempt < 100 && !is_refused; ++attempt) {
    std::this_thread::sleep_for(milliseconds(10));
    is_refused = !RawConnection::to_port(port).is_connected();
  }
  EXPECT_TRUE(is_refused);
  test.service.gate.open();
  EXPECT_TRUE(stopped.get());
}

TEST(ShutdownTest, SaysSoWhenACallDoesNotFinishInTime) {
  auto test = std::make_unique<TestServer>(DaemonOptions{.stop_time = seconds(0)});
  RawConnection client = test->connect();
  RawConnection waiting = test->connect();
  client.send(post("/wait", "x"));
  ASSERT_TRUE(test->service.gate.wait_for_arrivals(1));
  waiting.send(post("/echo", "y"));
  ASSERT_TRUE(test->service.wait_for_begun(2));
  EXPECT_FALSE(test->server->stop());
  EXPECT_FALSE(test->server->stop());
  EXPECT_FALSE(client.read_response().is_whole());
  const auto refusal = waiting.read_response();
  EXPECT_EQ(refusal.status, 503);
  EXPECT_THAT(refusal.body, HasSubstr("no worker became free in time"));
  // Destroying the server waits for the call.
  std::future<void> destroyed = std::async(std::launch::async, [&] { test->server.reset(); });
  EXPECT_EQ(destroyed.wait_for(milliseconds(100)), std::future_status::timeout);
  test->service.gate.open();
  destroyed.get();
  EXPECT_EQ(test->service.running, 0);
}

TEST(ShutdownTest, NamesEachRequestThatIsCutOff) {
  TestServer test(DaemonOptions{.stop_time = seconds(0)});
  RawConnection client = test.connect();
  RawConnection waiting = test.connect();
  RawConnection answered = test.connect();
  client.send(post("/wait", "x", "X-Request-Id: the-running-one\r\n"));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  waiting.send(post("/echo", "y", "X-Request-Id: the-waiting-one\r\n"));
  ASSERT_TRUE(test.service.wait_for_begun(2));
  EXPECT_TRUE(answered.exchange(get("/health")).is_whole());
  // The client may have its answer a moment before the server is done with the request.
  ASSERT_EQ(test.service.reports(1).size(), 1U);
  EXPECT_FALSE(test.server->stop());
  const std::vector<std::string> lines = test.logger.lines_with("cut off by the end of the daemon");
  EXPECT_THAT(lines, ElementsAre(HasSubstr("id=the-running-one method=POST target=/wait peer=127.0.0.1:")));
  EXPECT_EQ(waiting.read_response().status, 503);
  EXPECT_EQ(test.service.limits().count(Limit::kStopTime), 2U);
  test.service.gate.open();
}

TEST(ShutdownTest, NamesNothingIfAllIsAnswered) {
  TestServer test;
  RawConnection client = test.connect();
  EXPECT_TRUE(client.exchange(post("/echo", "x")).is_whole());
  EXPECT_TRUE(test.server->stop());
  EXPECT_EQ(test.logger.warnings, 0);
}

TEST(ShutdownTest, WaitsForABodyThatArrives) {
  TestServer test;
  RawConnection client = test.connect();
  const std::string request = post("/echo", std::string(100'000, 'a'), "Expect: 100-continue\r\n");
  const std::size_t body_begin = request.find("\r\n\r\n") + 4;
  client.send(request.substr(0, body_begin));
  EXPECT_EQ(client.read(25), "HTTP/1.1 100 Continue\r\n\r\n");
  client.send(request.substr(body_begin, 50'000));
  std::future<bool> stopped = std::async(std::launch::async, [&] { return test.server->stop(); });
  EXPECT_EQ(stopped.wait_for(milliseconds(100)), std::future_status::timeout);
  client.send(request.substr(body_begin + 50'000));
  EXPECT_TRUE(client.read_response().is_whole());
  EXPECT_TRUE(stopped.get());
}

TEST(ShutdownTest, RemovesOldRunsFromTimeToTime) {
  TestServer test({.keep_runs = seconds(1)});
  for (int attempt = 0; attempt < 1000 && test.service.removals == 0; ++attempt) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_EQ(test.service.removals, 1);
  EXPECT_TRUE(test.server->stop());
}

TEST(ShutdownTest, RemovesOldRunsOneAfterTheOtherWhileThereAreMore) {
  TestServer test({.keep_runs = seconds(1)});
  test.service.removals_with_more = 1000;
  const auto start = std::chrono::steady_clock::now();
  while (test.service.removals < 20 && std::chrono::steady_clock::now() - start < seconds(10)) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_GE(test.service.removals, 20) << "one a second is what there is without more of them";
  EXPECT_TRUE(test.server->stop());
}

TEST(ShutdownTest, DoesNotWaitForTheRestOfABody) {
  TestServer test;
  RawConnection client = test.connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_TRUE(test.server->stop());
  EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  EXPECT_TRUE(client.is_closed_within(seconds(5)));
}

}  // namespace
}  // namespace tessera
