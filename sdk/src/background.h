// One thread of the process that does for all clients what must happen without a call.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace tessera {

/// Something that is due now and then, or once the program ends. Its members are called from the background thread,
/// and, at the program's end, from the thread that ends it; never two at a time.
class Chore {
 public:
  using Instant = std::chrono::steady_clock::time_point;

  Chore() = default;
  Chore(const Chore&) = delete;
  Chore& operator=(const Chore&) = delete;
  virtual ~Chore() = default;

  /// Does what is due; returns when to be called next, Instant::max() for not again. Does not throw.
  virtual Instant run(Instant now) noexcept = 0;
  /// The program ends, and something was still due: the last chance. Does not throw, and does not take long.
  virtual void finish() noexcept = 0;
};

/// Calls `chore` at `due`, and from then on as it says; sooner if that was asked for before. It is kept until it is not
/// to be called again. Returns false, and does nothing, once the program ends. In a forked child nothing of the
/// parent's is done. Safe to call from any thread.
[[nodiscard]] bool run_in_background(const std::shared_ptr<Chore>& chore, Chore::Instant due);

}  // namespace tessera
