// Work that is done in order, later than it was asked for.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "tessera/base/mutex.h"

namespace tessera::stand_in {

/// Something that will have happened. Safe to use from any thread.
class Waitable {
 public:
  Waitable() = default;
  Waitable(const Waitable&) = delete;
  Waitable& operator=(const Waitable&) = delete;
  virtual ~Waitable() = default;
  [[nodiscard]] virtual bool is_done() = 0;
  virtual void wait() = 0;
  /// Somebody waits for it on the host: the delay that the knob asks for serves nothing any more.
  virtual void hurry() = 0;
};

class Stream;

/// The end of one piece of work.
class Completion final : public Waitable {
 public:
  Completion(std::weak_ptr<Stream> stream, std::uint64_t number) : stream_(std::move(stream)), number_(number) {}
  [[nodiscard]] bool is_done() override;
  void wait() override;
  void hurry() override;
  void finish();

 private:
  std::weak_ptr<Stream> stream_;
  std::uint64_t number_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  bool is_done_ TESSERA_GUARDED_BY(mutex_) = false;
};

/// A queue of work. Without a delay the caller does the work himself if nothing is before it; else a thread does, which
/// ends when there is no more. Safe to use from any thread.
class Stream : public std::enable_shared_from_this<Stream> {
 public:
  Stream(bool is_blocking, std::chrono::microseconds delay) : is_blocking_(is_blocking), delay_(delay) {}

  /// Whether it and the legacy default stream wait for each other.
  [[nodiscard]] bool is_blocking() const { return is_blocking_; }
  void set_delay(std::chrono::microseconds delay);

  /// Appends work, to be begun when `after` is over.
  std::shared_ptr<Completion> push(std::vector<std::shared_ptr<Waitable>> after, std::function<void()> run);
  /// Does what can be done at once, or lets a thread do it.
  void start();
  /// The end of what was appended last; may be null.
  [[nodiscard]] std::shared_ptr<Completion> last();
  void hurry(std::uint64_t number);

 private:
  struct Work {
    std::uint64_t number = 0;
    std::vector<std::shared_ptr<Waitable>> after;
    std::function<void()> run;
    std::shared_ptr<Completion> done;
  };
  void work_as_thread();
  static void finish(Work work);

  const bool is_blocking_;
  Mutex mutex_;
  std::condition_variable_any changed_;
  std::chrono::microseconds delay_ TESSERA_GUARDED_BY(mutex_);
  std::deque<Work> queue_ TESSERA_GUARDED_BY(mutex_);
  std::vector<std::shared_ptr<Waitable>> current_after_ TESSERA_GUARDED_BY(mutex_);
  std::shared_ptr<Completion> last_ TESSERA_GUARDED_BY(mutex_);
  std::uint64_t next_number_ TESSERA_GUARDED_BY(mutex_) = 1;
  std::uint64_t hurried_ TESSERA_GUARDED_BY(mutex_) = 0;
  bool is_active_ TESSERA_GUARDED_BY(mutex_) = false;
};

}  // namespace tessera::stand_in
