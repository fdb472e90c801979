#include "closing_thread.h"

#include <new>
#include <utility>

namespace tessera {

ClosingThread::ClosingThread() : thread_([this] { run(); }), id_(thread_.get_id()) {}

void ClosingThread::drop(std::shared_ptr<void> owner) noexcept {
  try {
    const MutexLock lock(mutex_);
    if (!is_stopping_) {
      queue_.push_back(std::move(owner));
      ++taken_;
      changed_.notify_all();
    }
  } catch (const std::bad_alloc&) {
    return;  // the owner goes here
  }
}

void ClosingThread::wait() {
  if (std::this_thread::get_id() == id_) {
    return;
  }
  const MutexLock lock(mutex_);
  const std::uint64_t awaited = taken_;
  while (dropped_ < awaited) {
    changed_.wait(mutex_);
  }
}

void ClosingThread::stop() {
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) {
    thread_.join();
  }
}

void ClosingThread::run() {
  while (true) {
    std::shared_ptr<void> owner;
    {
      const MutexLock lock(mutex_);
      while (queue_.empty() && !is_stopping_) {
        changed_.wait(mutex_);
      }
      if (queue_.empty()) {
        return;
      }
      owner = std::move(queue_.front());
      queue_.pop_front();
    }
    owner.reset();
    const MutexLock lock(mutex_);
    ++dropped_;
    changed_.notify_all();
  }
}

}  // namespace tessera
