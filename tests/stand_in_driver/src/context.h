// The primary context of a device, with its streams.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "knobs.h"
#include "result_codes.h"
#include "stream.h"
#include "tessera/base/mutex.h"

namespace tessera::stand_in {

inline constexpr std::uintptr_t kStreamLegacy = 1;
inline constexpr std::uintptr_t kStreamPerThread = 2;

/// Made with the driver and there until the process ends; its address is the CUcontext. `retains`, `flags` and
/// `is_active` are guarded by the Driver's mutex; the rest is safe to use from any thread.
class Context {
 public:
  Context(std::size_t ordinal, const Knobs& knobs) : ordinal_(ordinal), knobs_(knobs), delay_(knobs.delay) {}

  [[nodiscard]] std::size_t ordinal() const { return ordinal_; }

  unsigned retains = 0;
  unsigned flags = 0;
  std::atomic<bool> is_active{false};

  /// The error of asynchronous work, which all later calls give.
  [[nodiscard]] Result sticky_error() const { return sticky_.load(); }
  void set_sticky_error(Result error) { sticky_.store(error); }

  [[nodiscard]] void* create_stream(bool is_blocking);
  /// False for what is no stream of this context.
  [[nodiscard]] bool destroy_stream(void* stream);
  /// 0, 1 and 2 are the default streams. Null for what is no stream.
  [[nodiscard]] std::shared_ptr<Stream> find_stream(void* stream, bool is_per_thread_default);

  /// Appends work in the order that the default stream imposes, and starts it.
  std::shared_ptr<Completion> submit(const std::shared_ptr<Stream>& stream,
                                     std::vector<std::shared_ptr<Waitable>> after, std::function<void()> run);
  /// Waits for all streams.
  void synchronize();
  void set_delay(std::chrono::microseconds delay);
  /// After a reset: no streams, no error.
  void clear();

 private:
  [[nodiscard]] std::vector<std::shared_ptr<Stream>> all_streams() TESSERA_REQUIRES(mutex_);
  [[nodiscard]] const std::shared_ptr<Stream>& default_stream(std::shared_ptr<Stream>& place) TESSERA_REQUIRES(mutex_);

  std::size_t ordinal_;
  const Knobs& knobs_;
  std::atomic<Result> sticky_{kSuccess};
  Mutex mutex_;
  std::chrono::microseconds delay_ TESSERA_GUARDED_BY(mutex_);
  std::shared_ptr<Stream> legacy_ TESSERA_GUARDED_BY(mutex_);
  std::map<std::thread::id, std::shared_ptr<Stream>> per_thread_ TESSERA_GUARDED_BY(mutex_);
  std::map<void*, std::shared_ptr<Stream>> created_ TESSERA_GUARDED_BY(mutex_);
  bool is_late_ TESSERA_GUARDED_BY(mutex_) = false;  ///< for a broken rule
  /// Streams that were destroyed with work in them.
  std::vector<std::weak_ptr<Stream>> destroyed_ TESSERA_GUARDED_BY(mutex_);
};

/// The contexts that are current on this thread, the last one on top.
[[nodiscard]] std::vector<Context*>& context_stack(const Knobs& knobs);

}  // namespace tessera::stand_in
