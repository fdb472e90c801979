#include "background.h"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tessera/base/mutex.h"

namespace tessera {
namespace {

using Instant = Chore::Instant;

class Background {
 public:
  // The one of this process. Never destroyed: a thread may use it while the program ends. A forked child, which has no
  // such thread, makes its own.
  static Background& of_this_process() {
    static Mutex mutex;
    static Background* instance = nullptr;
    static pid_t owner = 0;
    const MutexLock lock(mutex);
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

  void add(const std::shared_ptr<Chore>& chore, Instant due) {
    const MutexLock lock(mutex_);
    if (is_finished_) {
      return;
    }
    const auto known = std::ranges::find_if(entries_, [&](const Entry& entry) { return entry.key == chore.get(); });
    if (known == entries_.end()) {
      entries_.push_back({chore.get(), chore, due});
    } else if (due < known->due) {
      known->due = due;
    } else {
      return;
    }
    if (!thread_.joinable()) {
      thread_ = std::thread([this] { run(); });
    }
    wake_.notify_all();
  }

 private:
  struct Entry {
    const void* key;
    std::weak_ptr<Chore> chore;
    Instant due;
  };

  void run() {
    mutex_.lock();
    while (!is_finished_) {
      const auto next = std::ranges::min_element(entries_, {}, &Entry::due);
      if (next == entries_.end()) {
        wake_.wait(mutex_);
        continue;
      }
      const Instant now = std::chrono::steady_clock::now();
      if (next->due > now) {
        wake_.wait_until(mutex_, next->due);
        continue;
      }
      const void* const key = next->key;
      const std::weak_ptr<Chore> weak = next->chore;
      next->due = Instant::max();
      mutex_.unlock();
      Instant due = Instant::max();
      bool is_gone = true;
      if (const std::shared_ptr<Chore> chore = weak.lock()) {
        is_gone = false;
        due = chore->run(now);
      }
      mutex_.lock();
      const auto entry = std::ranges::find_if(entries_, [&](const Entry& each) { return each.key == key; });
      if (entry != entries_.end() && (is_gone || entry->chore.expired())) {
        entries_.erase(entry);
      } else if (entry != entries_.end()) {
        entry->due = std::min(entry->due, due);
      }
    }
    mutex_.unlock();
  }

  void finish() {
    std::vector<std::shared_ptr<Chore>> chores;
    {
      const MutexLock lock(mutex_);
      is_finished_ = true;
      wake_.notify_all();
      for (const Entry& entry : entries_) {
        if (std::shared_ptr<Chore> chore = entry.chore.lock()) {
          chores.push_back(std::move(chore));
        }
      }
      entries_.clear();
    }
    if (thread_.joinable()) {
      thread_.join();
    }
    for (const std::shared_ptr<Chore>& chore : chores) {
      chore->finish();
    }
  }

  Mutex mutex_;
  std::condition_variable_any wake_;
  std::vector<Entry> entries_ TESSERA_GUARDED_BY(mutex_);
  bool is_finished_ TESSERA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

void run_in_background(const std::shared_ptr<Chore>& chore, Chore::Instant due) {
  Background::of_this_process().add(chore, due);
}

}  // namespace tessera
