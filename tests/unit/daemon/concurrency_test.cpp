#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_folder.h"
#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// Makes `count` connections that each wait in a call.
std::vector<RawConnection> start_waiting_calls(TestServer& test, int count, int running) {
  std::vector<RawConnection> clients;
  for (int i = 0; i < count; ++i) {
    clients.push_back(test.connect());
    clients.back().send(post("/wait", std::to_string(i)));
    if (i < running) {
      EXPECT_TRUE(test.service.gate.wait_for_arrivals(i + 1));
    }
  }
  return clients;
}

TEST(ConcurrencyTest, RunsNoMoreCallsAtOnceThanThereAreWorkers) {
  TestServer test({.workers = 3});
  std::vector<RawConnection> clients = start_waiting_calls(test, 10, 3);
  EXPECT_TRUE(clients.back().is_silent_for(milliseconds(100)));
  EXPECT_EQ(test.service.running, 3);
  test.service.gate.open();
  for (std::size_t i = 0; i < clients.size(); ++i) {
    const auto response = clients[i].read_response();
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.body, std::to_string(i));
  }
  EXPECT_EQ(test.service.most_running, 3);
}

TEST(ConcurrencyTest, AnswersWhatNeedsNoWorkerWhateverRuns) {
  TestServer test({.workers = 2});
  std::vector<RawConnection> clients = start_waiting_calls(test, 50, 2);
  RawConnection other = test.connect();
  for (int i = 0; i < 20; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto response = other.exchange(get("/health"));
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.body, "ok");
    EXPECT_LT(std::chrono::steady_clock::now() - start, seconds(5));
  }
  test.service.gate.open();
  for (RawConnection& client : clients) {
    EXPECT_TRUE(client.read_response().is_whole());
  }
}

TEST(ConcurrencyTest, RefusesCallsBeyondTheQueue) {
  TestServer test({.waiting_calls = 2});
  std::vector<RawConnection> clients = start_waiting_calls(test, 1, 1);
  for (int i = 0; i < 10; ++i) {
    clients.push_back(test.connect());
    clients.back().send(post("/wait", "x"));
  }
  std::vector<RawConnection*> refused;
  const auto deadline = std::chrono::steady_clock::now() + seconds(10);
  while (refused.size() < 8 && std::chrono::steady_clock::now() < deadline) {
    for (RawConnection& client : clients) {
      if (!client.is_silent_for(milliseconds(5))) {
        const auto response = client.read_response();
        EXPECT_EQ(response.status, 503);
        EXPECT_EQ(response.headers.at("retry-after"), "1");
        EXPECT_THAT(response.body, ::testing::StartsWith("{\"detail\":\""));
        refused.push_back(&client);
      }
    }
  }
  ASSERT_EQ(refused.size(), 8U);
  EXPECT_TRUE(clients.front().is_silent_for(milliseconds(50)));
  test.service.gate.open();
  for (RawConnection& client : clients) {
    if (std::ranges::find(refused, &client) == refused.end()) {
      EXPECT_TRUE(client.read_response().is_whole());
    }
  }
  // A refused client keeps its connection and may try again.
  const auto response = refused.front()->exchange(post("/echo", "again"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 200);
}

TEST(ConcurrencyTest, DoesNotRunTheWaitingCallOfAClientThatHasGone) {
  TestServer test;
  std::vector<RawConnection> clients = start_waiting_calls(test, 1, 1);
  RawConnection leaver = test.connect();
  leaver.send(post("/echo", "never"));
  ASSERT_TRUE(test.service.wait_for_begun(2));
  leaver.close();
  RawConnection last = test.connect();
  last.send(post("/echo", "last"));
  ASSERT_TRUE(test.service.wait_for_begun(3));
  EXPECT_TRUE(last.is_silent_for(milliseconds(50)));
  test.service.gate.open();
  EXPECT_TRUE(clients[0].read_response().is_whole());
  EXPECT_TRUE(last.read_response().is_whole());
  EXPECT_EQ(test.service.finished, 2);
}

TEST(ConcurrencyTest, DoesNotRunTheLargeCallOfAClientThatResetItsConnection) {
  TestServer test;
  RawConnection leaver = test.connect();
  leaver.send(post("/wait_early", std::string(std::size_t{2} << 20, 'x')));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  leaver.reset();
  test.service.gate.open();
  const auto reports = test.service.reports(1);
  ASSERT_EQ(reports.size(), 1U);
  EXPECT_EQ(reports[0].status, 0);
  EXPECT_EQ(test.service.most_running, 0);
}

TEST(ConcurrencyTest, RunsTheWaitingCallOfAClientThatOnlySendsNoMoreWhereThatCanBeTold) {
  const testing::TempFolder folder;
  TestServer test({.unix_socket = folder.path() / "sock"});
  std::vector<RawConnection> clients = start_waiting_calls(test, 1, 1);
  RawConnection listener = RawConnection::to_path(folder.path() / "sock");
  listener.send(post("/echo", "heard"));
  listener.close_writing();
  RawConnection leaver = RawConnection::to_path(folder.path() / "sock");
  leaver.send(post("/echo", "never"));
  ASSERT_TRUE(test.service.wait_for_begun(3));
  leaver.close();
  test.service.gate.open();
  EXPECT_TRUE(clients[0].read_response().is_whole());
  EXPECT_EQ(listener.read_response().body, "heard");
  ASSERT_EQ(test.service.reports(3).size(), 3U);
  EXPECT_EQ(test.service.finished, 2);
}

TEST(ConcurrencyTest, OutlivesClientsThatLeaveWhileTheirCallRuns) {
  TestServer test;
  for (int i = 0; i < 3; ++i) {
    RawConnection leaver = test.connect();
    leaver.send(post("/wait", "x"));
    if (i == 0) {
      ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
    }
  }
  test.service.gate.open();
  EXPECT_TRUE(test.connect().exchange(post("/echo", "after")).is_whole());
}

TEST(ConcurrencyTest, MixesNoAnswersUp) {
  TestServer test({.workers = 2});
  std::atomic<int> right{0};
  std::vector<std::thread> threads;
  threads.reserve(8);
  for (int name = 0; name < 8; ++name) {
    threads.emplace_back([&, name] {
      RawConnection client = test.connect();
      for (int step = 0; step < 100; ++step) {
        // Small ones, some in a buffer of their own, and some that take a codec slot.
        const std::size_t size = step % 25 == 0 ? 1'500'000U : step % 5 == 0 ? 20'000U : 100U;
        const std::string body = std::string(size, static_cast<char>('a' + name)) + std::to_string(step);
        const auto response = client.exchange(post("/echo", body));
        right += response.is_whole() && response.body == body ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(right, 800);
  EXPECT_LE(test.service.most_running, 2);
  EXPECT_EQ(test.logger.errors, 0);
}

TEST(ConcurrencyTest, StopsUnderLoad) {
  for (int round = 0; round < 5; ++round) {
    auto test = std::make_unique<TestServer>(DaemonOptions{.workers = 2});
    const std::uint16_t port = test->server->port();
    std::atomic<bool> is_over{false};
    std::atomic<int> answered{0};
    std::vector<std::thread> threads;
    threads.reserve(4);
    for (int name = 0; name < 4; ++name) {
      threads.emplace_back([&] {
        while (!is_over) {
          RawConnection client = RawConnection::to_port(port);
          while (client.is_connected() && client.exchange(post("/echo", std::string(100'000, 'x'))).is_whole()) {
            ++answered;
          }
        }
      });
    }
    while (answered < 20) {
      std::this_thread::sleep_for(milliseconds(1));
    }
    EXPECT_TRUE(test->server->stop());
    is_over = true;
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(test->logger.errors, 0);
  }
}

TEST(ConcurrencyTest, ServesWhileManyConnectionsSayNothing) {
  const TestServer test;
  std::vector<RawConnection> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(test.connect());
    ASSERT_TRUE(idle.back().is_connected());
    if (i % 2 == 0) {
      idle.back().send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n{");
    }
  }
  const auto response = test.connect().exchange(post("/echo", "x"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "x");
}

}  // namespace
}  // namespace tessera
