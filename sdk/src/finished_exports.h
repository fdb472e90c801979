// Which exports of the server are no longer needed, and when the server hears of it (PROTOCOL.md sections 8.1, 8.2).
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "background.h"
#include "tessera/base/fork_safe_mutex.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// The ids of one server's exports that are to be named done. They go with the next request; after a time without one,
/// and at the end of the program, by a request of their own. Safe to use from any thread.
class FinishedExports final : public Chore, public std::enable_shared_from_this<FinishedExports> {
 public:
  /// `make_request` names what take() gives, within a second; it may throw ClientError.
  FinishedExports(std::chrono::milliseconds idle_time, std::function<void(FinishedExports&)> make_request)
      : idle_time_(idle_time), make_request_(std::move(make_request)) {}

  /// An id that is done with. Ids that could not stand in a header are dropped: the server gives up their memory in
  /// its own time.
  void add(std::string_view id);
  /// The ids that a request names, at most as many as a header holds; the caller sends them, or gives them back.
  [[nodiscard]] std::vector<std::string> take();
  /// The request did not reach the server.
  void give_back(std::vector<std::string> ids);
  /// Names what is left, by requests of their own. Does not throw.
  void flush() noexcept;

  Instant run(Instant now) noexcept override;
  void finish() noexcept override { flush(); }

 private:
  [[nodiscard]] bool is_empty();

  std::chrono::milliseconds idle_time_;
  std::function<void(FinishedExports&)> make_request_;
  ForkSafeMutex mutex_;
  std::vector<std::string> ids_ TESSERA_GUARDED_BY(mutex_);
  Instant last_use_ TESSERA_GUARDED_BY(mutex_);
  Instant last_added_ TESSERA_GUARDED_BY(mutex_);
  pid_t owner_ TESSERA_GUARDED_BY(mutex_) = 0;
};

/// Named done once the last copy of this is dropped, in the process that got it (of which a forked child has copies);
/// nothing without an id.
[[nodiscard]] std::shared_ptr<void> loan_of(std::shared_ptr<FinishedExports> exports,
                                            const std::optional<std::string>& id);

}  // namespace tessera
