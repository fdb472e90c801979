#include "tessera/base/fork_safe_mutex.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <vector>

namespace tessera {
namespace {

// Forks; the child ends well if `work` gives true before ten seconds are over.
template <class Work>
bool holds_in_a_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkSafeMutexTest, IsFreeInAChildOfBusyThreads) {
  struct Pair {
    ForkSafeMutex first;
    ForkSafeMutex second;
    int left TESSERA_GUARDED_BY(second) = 0;
    int right TESSERA_GUARDED_BY(second) = 0;
  } pair;
  std::atomic<bool> ends{false};
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!ends) {
        // One inside the other, and new ones meanwhile.
        const MutexLock outer(pair.first);
        const auto other = std::make_unique<ForkSafeMutex>();
        const MutexLock inner(pair.second);
        ++pair.left;
        ++pair.right;
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(holds_in_a_child([&] {
      const MutexLock outer(pair.first);
      const MutexLock inner(pair.second);
      return pair.left == pair.right;
    }));
  }
  ends = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(ForkSafeMutexTest, DoesNotKeepAProcessFromForking) {
  ForkSafeMutex mutex;
  std::atomic<bool> is_held{false};
  std::atomic<bool> ends{false};
  std::thread holder([&] {
    const MutexLock lock(mutex);
    is_held = true;
    while (!ends) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  while (!is_held) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(holds_in_a_child([] { return true; }));
  ends = true;
  holder.join();
  EXPECT_TRUE(holds_in_a_child([&] {
    const MutexLock lock(mutex);
    return true;
  }));
}

}  // namespace
}  // namespace tessera
