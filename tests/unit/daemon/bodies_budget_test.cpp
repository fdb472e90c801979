#include "bodies_budget.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::HasSubstr;

constexpr seconds kBodyPatience{30};
DaemonOptions a_million() {
  return {.bodies_bytes = 1'000'000};
}

std::string head_of(std::size_t body_bytes, std::string_view more = "") {
  return "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(body_bytes) + "\r\n" +
         std::string(more) + "\r\n";
}

std::string chunked_post(std::string_view target, std::size_t body_bytes) {
  constexpr std::size_t kChunk = 10'000;
  std::string text = "POST " + std::string(target) + " HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0; at < body_bytes; at += kChunk) {
    text += "2710\r\n" + std::string(kChunk, 'a') + "\r\n";
  }
  return text + "0\r\n\r\n";
}

// Whether a body of so many bytes is taken at some time.
bool is_taken_in_the_end(const TestServer& test, std::size_t body_bytes) {
  const auto deadline = std::chrono::steady_clock::now() + kBodyPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    if (test.connect().exchange(post("/echo", std::string(body_bytes, 'a'))).status == 200) {
      return true;
    }
    std::this_thread::sleep_for(milliseconds(10));
  }
  return false;
}

TEST(BodiesBudgetTest, HoldsNoMoreThanItsLimit) {
  BodiesBudget budget(100);
  HeldBodyBytes first(budget);
  {
    HeldBodyBytes second(budget);
    EXPECT_TRUE(first.add(60));
    EXPECT_TRUE(second.add(40));
    EXPECT_FALSE(second.add(1));
    EXPECT_FALSE(first.add(UINT64_MAX));
    EXPECT_EQ(second.bytes(), 40U);
    EXPECT_EQ(budget.held_bytes(), 100U);
  }
  EXPECT_EQ(budget.held_bytes(), 60U);
  EXPECT_TRUE(first.add(40));
  first.give_back();
  first.give_back();
  EXPECT_EQ(budget.held_bytes(), 0U);
}

TEST(BodiesBudgetTest, CountsRightFromManyThreads) {
  BodiesBudget budget(100);
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&budget] {
      for (int step = 0; step < 10'000; ++step) {
        HeldBodyBytes held(budget);
        static_cast<void>(held.add(40));
        EXPECT_LE(budget.held_bytes(), 100U);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(budget.held_bytes(), 0U);
}

TEST(AllBodiesTest, RefusesABodyThatAloneIsTooLarge) {
  const TestServer test(a_million());
  for (const char* more : {"", "Expect: 100-continue\r\n"}) {
    RawConnection client = test.connect();
    const auto refusal = client.exchange(head_of(1'000'001, more));
    EXPECT_EQ(refusal.status, 413);
    EXPECT_THAT(refusal.body, HasSubstr("1000001 bytes"));
    EXPECT_THAT(refusal.body, HasSubstr("1000000 bytes for all bodies together"));
    EXPECT_TRUE(client.is_closed_within(kBodyPatience));
  }
  const auto chunked = test.connect().exchange(chunked_post("/echo", 1'010'000));
  EXPECT_EQ(chunked.status, 413);
  EXPECT_THAT(chunked.body, HasSubstr("1000000 bytes for all bodies together"));
  EXPECT_EQ(test.service.begun, 0);
}

TEST(AllBodiesTest, TakesABodyOfExactlyTheLimitAgainAndAgain) {
  const TestServer test(a_million());
  RawConnection client = test.connect();
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(client.exchange(post("/echo", std::string(1'000'000, 'a'))).status, 200);
    EXPECT_EQ(client.exchange(chunked_post("/echo", 1'000'000)).status, 200);
  }
}

// Both of bodies that fill memory of their own, and of those that begin with a little.
TEST(AllBodiesTest, LetsNobodyKeepOthersOutByPromises) {
  const TestServer test({.bodies_bytes = 10'000'000});
  std::vector<RawConnection> promising;
  for (int i = 0; i < 50; ++i) {
    promising.push_back(test.connect());
    promising.back().send(head_of(i % 2 == 0 ? 9'000'000 : 900'000) + "{");
  }
  std::string body;
  body.resize(9'000'000, 'a');
  EXPECT_EQ(test.connect().exchange(post("/echo", body)).status, 200);
}

TEST(AllBodiesTest, RefusesForNowWhatIsTooMuchTogether) {
  TestServer test({.workers = 1, .bodies_bytes = 1'000'000});
  RawConnection first = test.connect();
  first.send(post("/wait", std::string(600'000, 'a')));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  for (const std::string& request : {post("/echo", std::string(600'000, 'a')), chunked_post("/echo", 600'000)}) {
    RawConnection client = test.connect();
    const auto refusal = client.exchange(request);
    EXPECT_EQ(refusal.status, 503);
    EXPECT_EQ(refusal.headers.at("retry-after"), "1");
    EXPECT_THAT(refusal.body, HasSubstr("the limit of 1000000 bytes"));
    EXPECT_TRUE(client.is_closed_within(kBodyPatience));
  }
  EXPECT_EQ(test.service.begun, 1);
  EXPECT_EQ(test.service.limits_hit(Limit::kBodiesBytes), 2U);
  // What they had sent is given back, and there is room for what fits.
  RawConnection fitting = test.connect();
  fitting.send(post("/echo", std::string(400'000, 'a')));
  ASSERT_TRUE(test.service.wait_for_begun(2));
  // Not even a short one fits now.
  EXPECT_EQ(test.connect().exchange(post("/echo", "{")).status, 503);
  EXPECT_EQ(test.connect().exchange(get("/health")).status, 200);
  test.service.gate.open();
  EXPECT_EQ(first.read_response().status, 200);
  EXPECT_EQ(fitting.read_response().status, 200);
  EXPECT_TRUE(is_taken_in_the_end(test, 1'000'000));
}

TEST(AllBodiesTest, ShowsWhatIsHeld) {
  TestServer test(a_million());
  RawConnection client = test.connect();
  client.send(post("/wait", std::string(600'000, 'a')));
  ASSERT_TRUE(test.service.gate.wait_for_arrivals(1));
  // Its own body is among them.
  EXPECT_THAT(test.connect().exchange(post("/load", "{}")).body, HasSubstr(", 600002 of 1000000 body bytes"));
  test.service.gate.open();
  EXPECT_EQ(client.read_response().status, 200);
}

TEST(AllBodiesTest, GivesBackWhatClientsLeaveBehind) {
  const TestServer test(a_million());
  for (int i = 0; i < 3; ++i) {
    RawConnection leaver = test.connect();
    leaver.send(head_of(1'000'000) + std::string(900'000, 'a'));
    RawConnection chunks = test.connect();
    chunks.send(chunked_post("/echo", 90'000).substr(0, 80'000));
  }
  EXPECT_TRUE(is_taken_in_the_end(test, 1'000'000));
}

TEST(AllBodiesTest, HoldsNoBodyWhileItsAnswerIsSent) {
  const TestServer test(a_million());
  RawConnection slow = test.connect();
  slow.send(post("/large?30000000", std::string(900'000, 'a')));
  ASSERT_TRUE(test.service.wait_for_begun(1));
  EXPECT_TRUE(is_taken_in_the_end(test, 1'000'000));
}

}  // namespace
}  // namespace tessera
