#include "tessera/base/mutex.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace tessera {
namespace {

class Counter {
 public:
  void add() {
    const MutexLock lock(mutex_);
    ++count_;
  }
  [[nodiscard]] int count() {
    const MutexLock lock(mutex_);
    return count_;
  }

 private:
  Mutex mutex_;
  int count_ TESSERA_GUARDED_BY(mutex_) = 0;
};

TEST(MutexTest, LetsOneThreadInAtATime) {
  Counter counter;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&counter] {
        for (int step = 0; step < 1000; ++step) {
          counter.add();
        }
      });
    }
  }
  EXPECT_EQ(counter.count(), 4000);
}

}  // namespace
}  // namespace tessera
