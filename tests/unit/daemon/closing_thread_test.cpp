#include "closing_thread.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace tessera {
namespace {

constexpr int kThreads = 8;
constexpr int kOwners = 200;

/// What runs a function as it goes.
std::shared_ptr<void> owner_that(std::function<void()> function) {
  return {nullptr, [function = std::move(function)](void*) { function(); }};
}

TEST(ClosingThreadTest, DropsOnAThreadOfItsOwn) {
  ClosingThread closer;
  std::thread::id id;
  closer.drop(owner_that([&id] { id = std::this_thread::get_id(); }));
  closer.wait();
  EXPECT_NE(id, std::thread::id());
  EXPECT_NE(id, std::this_thread::get_id());
}

TEST(ClosingThreadTest, WaitsForWhatManyThreadsHandOver) {
  ClosingThread closer;
  std::atomic<int> dropped{0};
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&closer, &dropped] {
      for (int step = 0; step < kOwners; ++step) {
        closer.drop(owner_that([&dropped] { ++dropped; }));
      }
      closer.wait();
      EXPECT_GE(dropped, kOwners);
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(dropped, kThreads * kOwners);
}

TEST(ClosingThreadTest, MayBeWaitedForByAnOwnerThatGoes) {
  ClosingThread closer;
  bool has_gone = false;
  closer.drop(owner_that([&closer, &has_gone] {
    closer.wait();
    has_gone = true;
  }));
  closer.wait();
  EXPECT_TRUE(has_gone);
}

TEST(ClosingThreadTest, DropsWhatIsLeftAsItStopsAndThenAtOnce) {
  ClosingThread closer;
  std::vector<int> dropped;
  for (int i = 0; i < 3; ++i) {
    closer.drop(owner_that([&dropped, i] { dropped.push_back(i); }));
  }
  closer.stop();
  EXPECT_EQ(dropped, (std::vector{0, 1, 2}));
  closer.drop(owner_that([&dropped] { dropped.push_back(3); }));
  EXPECT_EQ(dropped.size(), 4U);
}

}  // namespace
}  // namespace tessera
