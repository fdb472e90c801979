#include "background.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tessera/base/fork_safe_mutex.h"
#include "tessera/base/mutex.h"

namespace tessera {
namespace {

using Instant = Chore::Instant;

class Background {
 public:
  // The one of this process. Never destroyed: a thread may use it while the program ends. A forked child, which has no
  // such thread, makes its own.
  static Background& of_this_process() {
    static auto* const kMutex = new ForkSafeMutex;  // NOLINT(cppcoreguidelines-owning-memory)
    static Background* instance = nullptr;
    static pid_t owner = 0;
    const MutexLock lock(*kMutex);
    if (const pid_t self = getpid(); owner != self) {
      const bool is_first = owner == 0;
      instance = new Background;  // NOLINT(cppcoreguidelines-owning-memory)
      owner = self;
      if (is_first) {
        std::atexit([] { of_this_process().finish(); });
      }
    }
    return *instance;
  }

  // Returns false once the program ends.
  bool add(const std::shared_ptr<Chore>& chore, Instant due) {
    const MutexLock lock(mutex_);
    if (is_finished_) {
      return false;
    }
    put(chore, due);
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { run(); });
    }
    wake_.notify_all();
    return true;
  }

 private:
  struct Entry {
    std::shared_ptr<Chore> chore;
    Instant due;
  };

  void put(const std::shared_ptr<Chore>& chore, Instant due) TESSERA_REQUIRES(mutex_) {
    const auto known = std::ranges::find(entries_, chore, &Entry::chore);
    if (known == entries_.end()) {
      entries_.push_back({chore, due});
    } else {
      known->due = std::min(known->due, due);
    }
  }

  void run() {
    mutex_.lock();
    while (!is_finished_) {
      const auto next = std::ranges::min_element(entries_, {}, &Entry::due);
      if (next == entries_.end()) {
        wake_.wait(mutex_);
        continue;
      }
      const Instant now = std::chrono::steady_clock::now();
      if (const Instant due = next->due; due > now) {
        wake_.wait_until(mutex_, due);
        continue;
      }
      std::shared_ptr<Chore> chore = std::move(next->chore);
      entries_.erase(next);
      mutex_.unlock();
      const Instant due = chore->run(now);
      if (due == Instant::max()) {
        chore.reset();  // without the lock: it may be the last one
      }
      mutex_.lock();
      if (chore) {
        put(chore, due);
      }
    }
    mutex_.unlock();
  }

  void finish() {
    {
      const MutexLock lock(mutex_);
      is_finished_ = true;
      wake_.notify_all();
    }
    if (thread_.joinable()) {
      thread_.join();
    }
    std::vector<Entry> last;
    {
      const MutexLock lock(mutex_);
      last.swap(entries_);
    }
    for (const Entry& entry : last) {
      entry.chore->finish();
    }
  }

  Mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<Entry> entries_ TESSERA_GUARDED_BY(mutex_);
  bool is_finished_ TESSERA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

bool run_in_background(const std::shared_ptr<Chore>& chore, Chore::Instant due) {
  return Background::of_this_process().add(chore, due);
}

}  // namespace tessera
