#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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

constexpr int kSlowClients = 1000;
constexpr int kRounds = 3;

// Of so many requests on one connection; nothing is lost.
nanoseconds p99_of_calls(const TestServer& test, int count) {
  RawConnection client = test.connect();
  std::vector<nanoseconds> times;
  for (int i = 0; i < count; ++i) {
    const auto start = SteadyClock::now();
    EXPECT_EQ(client.exchange(post("/echo", "x")).body, "x");
    times.push_back(SteadyClock::now() - start);
  }
  const auto p99 = times.begin() + static_cast<std::ptrdiff_t>(times.size() * 99 / 100);
  std::ranges::nth_element(times, p99);
  return *p99;
}

// Many clients, each of which sends a byte of an endless head twice a second.
class SlowClients {
 public:
  explicit SlowClients(const TestServer& test) {
    for (int i = 0; i < kSlowClients; ++i) {
      clients_.push_back(test.connect());
      clients_.back().send("GET /health HTTP/1.1\r\nX-Slow: ");
    }
    thread_ = std::thread([this] { trickle(); });
  }
  SlowClients(const SlowClients&) = delete;
  SlowClients& operator=(const SlowClients&) = delete;
  ~SlowClients() {
    is_over_ = true;
    thread_.join();
  }

  [[nodiscard]] bool are_all_open() const { return is_open_; }

 private:
  void trickle() {
    for (std::size_t next = 0; !is_over_; next = (next + 1) % clients_.size()) {
      is_open_ = clients_[next].send("x") && is_open_;
      if (next % 20 == 0) {
        std::this_thread::sleep_for(milliseconds(10));
      }
    }
  }

  std::vector<RawConnection> clients_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_open_{true};
  std::thread thread_;
};

// The best of several rounds on either side, as others use this machine too.
TEST(GreedyClientsTest, LeavesOthersTheirTimesWhenAThousandHeadsTrickle) {
  const TestServer test;
  nanoseconds alone = seconds(100);
  nanoseconds beside = seconds(100);
  for (int round = 0; round < kRounds; ++round) {
    alone = std::min(alone, p99_of_calls(test, 2000));
    const SlowClients slow(test);
    beside = std::min(beside, p99_of_calls(test, 2000));
    EXPECT_TRUE(slow.are_all_open());
  }
  RecordProperty("alone_us", std::to_string(alone.count() / 1000));
  RecordProperty("beside_us", std::to_string(beside.count() / 1000));
  EXPECT_LE(beside, 2 * alone + milliseconds(5));
}

// 1.3 GB of answers, of which the server makes no more than sockets hold and one.
TEST(GreedyClientsTest, MakesNoAnswersForAReaderThatNeverReads) {
  const TestServer test({.body_progress_time = seconds(1)});
  RawConnection greedy = test.connect();
  std::string requests;
  for (int i = 0; i < 1000; ++i) {
    requests += post("/large?1000000", "");
  }
  ASSERT_TRUE(greedy.send(requests));
  ASSERT_TRUE(test.service.wait_for_begun(1));
  bool is_closed = false;
  for (const auto deadline = SteadyClock::now() + seconds(30); !is_closed && SteadyClock::now() < deadline;) {
    EXPECT_EQ(test.connect().exchange(post("/echo", "other")).body, "other");
    is_closed = !greedy.send("x");
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_TRUE(is_closed);
  EXPECT_LT(test.service.large_answers, 50);
}

TEST(GreedyClientsTest, ServesOthersBesideManyWhoNeverRead) {
  const TestServer test({.body_progress_time = seconds(60)});
  std::vector<RawConnection> greedy;
  for (int i = 0; i < 20; ++i) {
    greedy.push_back(test.connect());
    greedy.back().send(post("/large?20000000", ""));
  }
  ASSERT_TRUE(test.service.wait_for_begun(20));
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(test.connect().exchange(post("/echo", "other")).body, "other");
  }
}

}  // namespace
}  // namespace tessera
