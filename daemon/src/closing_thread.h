// One thread for all that waits for a GPU as it goes, so that nobody who answers requests does.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <thread>

#include "tessera/base/mutex.h"
#include "tessera/cuda/closer.h"

namespace tessera {

class ClosingThread final : public Closer {
 public:
  /// Throws std::system_error if there can be no thread.
  ClosingThread();
  ClosingThread(const ClosingThread&) = delete;
  ClosingThread& operator=(const ClosingThread&) = delete;
  ~ClosingThread() override { stop(); }

  void drop(std::shared_ptr<void> owner) noexcept override;
  void wait() override;
  /// Drops what is left and ends the thread; from then on drop() drops at once. Must not be called by an owner that
  /// goes, as the destructor is if such a one is the last to know of this.
  void stop();

 private:
  void run();

  Mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::shared_ptr<void>> queue_ TESSERA_GUARDED_BY(mutex_);
  std::uint64_t taken_ TESSERA_GUARDED_BY(mutex_) = 0;
  std::uint64_t dropped_ TESSERA_GUARDED_BY(mutex_) = 0;
  bool is_stopping_ TESSERA_GUARDED_BY(mutex_) = false;
  std::thread thread_;
  const std::thread::id id_;
};

}  // namespace tessera
