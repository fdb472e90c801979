#include <gtest/gtest.h>

#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

constexpr milliseconds kForever = seconds(60);

// Of all threads of this process, so that nobody else's work counts.
nanoseconds processor_time() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return seconds(now.tv_sec) + nanoseconds(now.tv_nsec);
}

// Whether threads work although there is nothing to do.
bool is_polling(milliseconds patience) {
  const nanoseconds before = processor_time();
  const auto deadline = SteadyClock::now() + patience;
  while (processor_time() < before + milliseconds(50) && SteadyClock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(10));
  }
  return processor_time() >= before + milliseconds(50);
}

// With pauses shorter than it is looked for the next request, and longer ones.
TEST(BusyPollTest, AnswersEachOfSeveralConnectionsRightly) {
  const TestServer test({.workers = 2, .busy_poll = milliseconds(1)});
  constexpr int kClients = 4;
  std::vector<std::jthread> clients;
  clients.reserve(kClients);
  for (int number = 0; number < kClients; ++number) {
    clients.emplace_back([&test, number] {
      RawConnection client = test.connect();
      for (int i = 0; i < 60; ++i) {
        const std::string body = std::to_string(number) + "-" + std::to_string(i);
        EXPECT_EQ(client.exchange(post("/echo", body)).body, body);
        EXPECT_EQ(client.exchange(get("/health")).status, 200);
        std::this_thread::sleep_for(milliseconds(i % 4));
      }
    });
  }
  clients.clear();
  RawConnection pipeline = test.connect();
  pipeline.send(post("/echo", "first") + post("/echo", "second"));
  EXPECT_EQ(pipeline.read_response().body, "first");
  EXPECT_EQ(pipeline.read_response().body, "second");
}

TEST(BusyPollTest, KeepsNobodyElseWaiting) {
  const TestServer test({.busy_poll = kForever});
  RawConnection polled = test.connect();
  EXPECT_EQ(polled.exchange(get("/health")).status, 200);
  const auto start = SteadyClock::now();
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(test.connect().exchange(post("/echo", "other")).body, "other");
  }
  EXPECT_EQ(polled.exchange(post("/echo", "polled")).body, "polled");
  EXPECT_LT(SteadyClock::now() - start, seconds(20));
}

TEST(BusyPollTest, SeesThatAClientHasGone) {
  const TestServer test({.busy_poll = kForever, .connections = 1});
  for (int i = 0; i < 5; ++i) {
    // Refused as long as the one before counts.
    const auto deadline = SteadyClock::now() + seconds(20);
    int status = 0;
    while (status != 200 && SteadyClock::now() < deadline) {
      status = test.connect().exchange(get("/health")).status;
    }
    EXPECT_EQ(status, 200);
  }
}

TEST(BusyPollTest, StopsAtOnceWhileAThreadPolls) {
  const TestServer test({.busy_poll = kForever});
  RawConnection client = test.connect();
  EXPECT_EQ(client.exchange(get("/health")).status, 200);
  EXPECT_TRUE(is_polling(seconds(20)));
  const auto start = SteadyClock::now();
  EXPECT_TRUE(test.server->stop());
  EXPECT_LT(SteadyClock::now() - start, seconds(5));
  EXPECT_TRUE(client.is_closed_within(seconds(5)));
}

TEST(BusyPollTest, IsOffUnlessAskedFor) {
  EXPECT_EQ(DaemonOptions().busy_poll.count(), 0);
  const TestServer test;
  RawConnection client = test.connect();
  EXPECT_EQ(client.exchange(get("/health")).status, 200);
  EXPECT_FALSE(is_polling(milliseconds(200)));
}

}  // namespace
}  // namespace tessera
