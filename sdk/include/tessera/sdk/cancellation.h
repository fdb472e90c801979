// Stops a call from another thread.
#pragma once

#include <memory>

#include "tessera/base/unique_fd.h"

namespace tessera {

/// A switch that ends the calls it was given to: they throw ClientError::Kind::kCancelled, and their connections are
/// closed; what the server has begun it may finish. Copies are the same switch. Safe to use from any thread.
class Cancellation {
 public:
  /// Throws std::system_error if there are no descriptors left.
  Cancellation();
  /// Ends the calls that run, and those that come.
  void cancel() const;
  [[nodiscard]] bool is_cancelled() const;
  /// A descriptor that becomes readable when cancel() is called (eventfd(2)).
  [[nodiscard]] int descriptor() const { return event_->value(); }

 private:
  std::shared_ptr<const UniqueFd> event_;
};

}  // namespace tessera
