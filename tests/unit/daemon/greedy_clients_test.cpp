#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;
using SteadyClock = std::chrono::steady_clock;

constexpr int kSlowClients = 1000;
constexpr int kNormalClients = 3;
constexpr int kCallsEach = 700;
constexpr int kFewestRounds = 3;
constexpr int kMostRounds = 20;

struct Times {
  nanoseconds median = seconds(100);
  nanoseconds p99 = seconds(100);
};

// Nothing is lost on the way.
std::vector<nanoseconds> times_of_one(const TestServer& test) {
  RawConnection client = test.connect();
  std::vector<nanoseconds> times;
  times.reserve(kCallsEach);
  for (int i = 0; i < kCallsEach; ++i) {
    const auto start = SteadyClock::now();
    EXPECT_EQ(client.exchange(post("/echo", "x")).body, "x");
    times.push_back(SteadyClock::now() - start);
  }
  return times;
}

// Of several clients at once, each with a connection of its own.
Times times_of_calls(const TestServer& test) {
  std::vector<std::future<std::vector<nanoseconds>>> clients;
  clients.reserve(kNormalClients);
  for (int i = 0; i < kNormalClients; ++i) {
    clients.push_back(std::async(std::launch::async, [&test] { return times_of_one(test); }));
  }
  std::vector<nanoseconds> times;
  for (auto& client : clients) {
    const std::vector<nanoseconds> own = client.get();
    times.insert(times.end(), own.begin(), own.end());
  }
  std::ranges::sort(times);
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

Times best(const Times& one, const Times& other) {
  return {std::min(one.median, other.median), std::min(one.p99, other.p99)};
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
      if (next % 4 == 0) {
        std::this_thread::sleep_for(milliseconds(2));
      }
    }
  }

  std::vector<RawConnection> clients_;
  std::atomic<bool> is_over_{false};
  std::atomic<bool> is_open_{true};
  std::thread thread_;
};

// At most twice the time, and what a wake-up more takes. Others use this machine too, so the best of several rounds
// counts on either side: as few as show it, while one that is slow beside slow clients is so in each of them.
TEST(GreedyClientsTest, LeavesOthersTheirTimesWhenAThousandHeadsTrickle) {
  const TestServer test;
  Times alone;
  Times beside;
  const auto median_limit = [&] { return 2 * alone.median + microseconds(50); };
  const auto p99_limit = [&] { return 2 * alone.p99 + microseconds(200); };
  for (int round = 0; round < kMostRounds; ++round) {
    alone = best(alone, times_of_calls(test));
    const SlowClients slow(test);
    beside = best(beside, times_of_calls(test));
    EXPECT_TRUE(slow.are_all_open());
    if (round + 1 >= kFewestRounds && beside.median <= median_limit() && beside.p99 <= p99_limit()) {
      break;
    }
  }
  RecordProperty("alone_us", std::to_string(alone.p99.count() / 1000));
  RecordProperty("beside_us", std::to_string(beside.p99.count() / 1000));
  EXPECT_LE(beside.median, median_limit());
  EXPECT_LE(beside.p99, p99_limit());
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
