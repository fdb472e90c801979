#include "tessera/base/fork_safe_mutex.h"

#include <pthread.h>

#include <chrono>
#include <mutex>
#include <thread>

namespace tessera {

// All of this process, in a list. Never destroyed: mutexes in static storage may outlive anything.
class ForkSafeMutexes {
 public:
  static ForkSafeMutexes& all() {
    static auto* const kAll = [] {
      ::pthread_atfork([] { all().take_each(); }, [] { all().give_each_back(); }, [] { all().give_each_back(); });
      return new ForkSafeMutexes;
    }();
    return *kAll;
  }

  void add(ForkSafeMutex& mutex) {
    const std::scoped_lock lock(mutex_);
    mutex.next_ = first_;
    if (first_ != nullptr) {
      first_->previous_ = &mutex;
    }
    first_ = &mutex;
  }

  void remove(ForkSafeMutex& mutex) {
    const std::scoped_lock lock(mutex_);
    (mutex.previous_ != nullptr ? mutex.previous_->next_ : first_) = mutex.next_;
    if (mutex.next_ != nullptr) {
      mutex.next_->previous_ = mutex.previous_;
    }
  }

 private:
  static constexpr std::chrono::seconds kMaxWait{1};

  // Threads may hold one while they wait for another, in orders that are not known here: so nothing is held while this
  // waits. What is not free in the end is left to chance, rather than to keep the parent from forking.
  void take_each() TESSERA_NO_ANALYSIS {
    const auto start = std::chrono::steady_clock::now();
    while (true) {
      mutex_.lock();
      bool is_complete = true;
      for (ForkSafeMutex* mutex = first_; mutex != nullptr; mutex = mutex->next_) {
        mutex->is_held_for_fork_ = mutex->try_lock();
        is_complete = is_complete && mutex->is_held_for_fork_;
      }
      if (is_complete || std::chrono::steady_clock::now() - start > kMaxWait) {
        return;
      }
      give_each_back();
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }

  void give_each_back() TESSERA_NO_ANALYSIS {
    for (ForkSafeMutex* mutex = first_; mutex != nullptr; mutex = mutex->next_) {
      if (mutex->is_held_for_fork_) {
        mutex->is_held_for_fork_ = false;
        mutex->unlock();
      }
    }
    mutex_.unlock();
  }

  std::mutex mutex_;  // held through a fork, too
  ForkSafeMutex* first_ = nullptr;
};

ForkSafeMutex::ForkSafeMutex() {
  ForkSafeMutexes::all().add(*this);
}

ForkSafeMutex::~ForkSafeMutex() {
  ForkSafeMutexes::all().remove(*this);
}

}  // namespace tessera
