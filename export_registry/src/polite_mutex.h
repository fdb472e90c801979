// A mutex whose owner can see that others wait for it.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

#include "tessera/base/mutex.h"

namespace tessera {

/// std::mutex lets the thread that has just unlocked it lock it again before one that was woken by that gets there; who
/// takes it again and again in a loop would keep the others out until the loop ends. Such a one calls let_others_in().
class TESSERA_CAPABILITY("mutex") PoliteMutex {
 public:
  void lock() TESSERA_ACQUIRE() {
    if (!mutex_.try_lock()) {
      waiting_.fetch_add(1, std::memory_order_relaxed);
      mutex_.lock();
      waiting_.fetch_sub(1, std::memory_order_relaxed);
      let_in_.fetch_add(1, std::memory_order_relaxed);
    }
  }
  void unlock() TESSERA_RELEASE() { mutex_.unlock(); }

  /// Waits until one of those who wait has got it, for about a millisecond at most. Requires: the caller does not hold
  /// it.
  void let_others_in() const {
    constexpr int kTries = 1000;
    const std::uint64_t before = let_in_.load(std::memory_order_relaxed);
    for (int i = 0; i < kTries && waiting_.load(std::memory_order_relaxed) > 0 &&
                    let_in_.load(std::memory_order_relaxed) == before;
         ++i) {
      std::this_thread::yield();
    }
  }

 private:
  std::mutex mutex_;
  std::atomic<std::uint32_t> waiting_{0};
  std::atomic<std::uint64_t> let_in_{0};
};

/// Holds a PoliteMutex for the length of a scope.
class TESSERA_SCOPED_CAPABILITY PoliteLock {
 public:
  explicit PoliteLock(PoliteMutex& mutex) TESSERA_ACQUIRE(mutex) : mutex_(mutex) { mutex_.lock(); }
  ~PoliteLock() TESSERA_RELEASE() { mutex_.unlock(); }
  PoliteLock(const PoliteLock&) = delete;
  PoliteLock& operator=(const PoliteLock&) = delete;

 private:
  PoliteMutex& mutex_;
};

}  // namespace tessera
