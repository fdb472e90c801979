#include "stream.h"

#include <algorithm>
#include <thread>
#include <utility>

namespace tessera::stand_in {

bool Completion::is_done() {
  MutexLock lock(mutex_);
  return is_done_;
}

void Completion::wait() {
  MutexLock lock(mutex_);
  while (!is_done_) {
    changed_.wait(mutex_);
  }
}

void Completion::hurry() {
  if (std::shared_ptr<Stream> stream = stream_.lock()) {
    stream->hurry(number_);
  }
}

void Completion::finish() {
  MutexLock lock(mutex_);
  is_done_ = true;
  changed_.notify_all();
}

void Stream::set_delay(std::chrono::microseconds delay) {
  MutexLock lock(mutex_);
  delay_ = delay;
}

std::shared_ptr<Completion> Stream::push(std::vector<std::shared_ptr<Waitable>> after, std::function<void()> run) {
  MutexLock lock(mutex_);
  std::uint64_t number = next_number_++;
  last_ = std::make_shared<Completion>(weak_from_this(), number);
  queue_.push_back({number, std::move(after), std::move(run), last_});
  return last_;
}

void Stream::finish(Work work) {
  work.run();
  // What it kept alive goes before anybody learns that it is over.
  work.run = nullptr;
  work.after.clear();
  work.done->finish();
}

void Stream::start() {
  for (bool is_mine = false;; is_mine = true) {
    Work work;
    {
      MutexLock lock(mutex_);
      if (is_active_ && !is_mine) {
        return;
      }
      if (queue_.empty()) {
        is_active_ = false;
        return;
      }
      is_active_ = true;
      const auto& after = queue_.front().after;
      if (delay_.count() > 0 || !std::ranges::all_of(after, [](const auto& one) { return one->is_done(); })) {
        std::thread([self = shared_from_this()] { self->work_as_thread(); }).detach();
        return;
      }
      work = std::move(queue_.front());
      queue_.pop_front();
    }
    finish(std::move(work));
  }
}

void Stream::work_as_thread() {
  for (;;) {
    Work work;
    bool is_hurried = false;
    {
      MutexLock lock(mutex_);
      current_after_.clear();
      if (queue_.empty()) {
        is_active_ = false;
        return;
      }
      work = std::move(queue_.front());
      queue_.pop_front();
      current_after_ = work.after;
      is_hurried = work.number <= hurried_;
    }
    for (const std::shared_ptr<Waitable>& one : work.after) {
      if (is_hurried) {
        one->hurry();
      }
      one->wait();
    }
    {
      MutexLock lock(mutex_);
      auto end = std::chrono::system_clock::now() + delay_;
      while (work.number > hurried_ && std::chrono::system_clock::now() < end) {
        changed_.wait_until(mutex_, end);
      }
    }
    finish(std::move(work));
  }
}

std::shared_ptr<Completion> Stream::last() {
  MutexLock lock(mutex_);
  return last_;
}

void Stream::hurry(std::uint64_t number) {
  std::vector<std::shared_ptr<Waitable>> others;
  {
    MutexLock lock(mutex_);
    if (hurried_ >= number) {
      return;
    }
    hurried_ = number;
    others = current_after_;
    for (const Work& work : queue_) {
      if (work.number <= number) {
        others.insert(others.end(), work.after.begin(), work.after.end());
      }
    }
    changed_.notify_all();
  }
  for (const std::shared_ptr<Waitable>& one : others) {
    one->hurry();
  }
}

}  // namespace tessera::stand_in
