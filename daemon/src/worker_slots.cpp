#include "worker_slots.h"

namespace tessera {

bool WorkerSlots::try_take() {
  const MutexLock lock(mutex_);
  if (free_ == 0) {
    return false;
  }
  --free_;
  return true;
}

WorkerSlots::Outcome WorkerSlots::take_or_wait(std::unique_ptr<Waiter>& waiter) {
  const MutexLock lock(mutex_);
  if (free_ > 0) {
    --free_;
    return Outcome::kTaken;
  }
  if (queue_.size() >= waiting_limit_) {
    return Outcome::kFull;
  }
  queue_.push_back(std::move(waiter));
  return Outcome::kQueued;
}

void WorkerSlots::give_back() {
  std::unique_ptr<Waiter> next;
  {
    const MutexLock lock(mutex_);
    if (queue_.empty()) {
      ++free_;
      return;
    }
    next = std::move(queue_.front());
    queue_.pop_front();
  }
  next->granted();
}

void WorkerSlots::refuse_waiters() {
  std::deque<std::unique_ptr<Waiter>> refused;
  {
    const MutexLock lock(mutex_);
    waiting_limit_ = 0;
    refused.swap(queue_);
  }
  for (const std::unique_ptr<Waiter>& waiter : refused) {
    waiter->refused();
  }
}

void WorkerSlots::drop_waiters() {
  std::deque<std::unique_ptr<Waiter>> dropped;
  const MutexLock lock(mutex_);
  waiting_limit_ = 0;
  dropped.swap(queue_);
}

std::size_t WorkerSlots::taken() const {
  const MutexLock lock(mutex_);
  return slots_ - free_;
}

std::size_t WorkerSlots::waiting() const {
  const MutexLock lock(mutex_);
  return queue_.size();
}

}  // namespace tessera
