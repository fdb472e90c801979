// The thread that ends leases on time, with no request needed.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "tessera/export_registry/export_registry.h"

namespace tessera {

/// Reaps a registry as its leases grow too old, until it is destroyed. Uses the machine's clock to wait and the
/// registry's to judge.
class Reaper {
 public:
  /// `registry` and `clock` outlive it. `when_reaped` is called on the reaper's thread with the number of leases, each
  /// time there were any (a large number comes in parts); it must not throw. Throws std::system_error if no thread can
  /// be made.
  Reaper(ExportRegistry& registry, const Clock& clock, std::function<void(std::size_t)> when_reaped);
  Reaper(const Reaper&) = delete;
  Reaper& operator=(const Reaper&) = delete;
  /// Waits for what is being destroyed, not for all that is due.
  ~Reaper();

 private:
  class Thread;
  std::unique_ptr<Thread> thread_;
};

}  // namespace tessera
