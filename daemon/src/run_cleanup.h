// Removes the folders of old runs (--keep-runs).
#pragma once

#include <chrono>
#include <set>
#include <string>

#include "tessera/base/clock.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/mutex.h"

namespace tessera {

/// Of the runs below one output folder, knows which are going on and removes those that are over and old. Safe to use
/// from any thread. `output` outlives it.
class RunCleanup {
 public:
  /// Of one call of remove_older_than, so that it never takes long.
  static constexpr int kMaxRemovals = 1000;

  explicit RunCleanup(const ConfinedFolder& output) : output_(output) {}

  /// Keeps a run's folder, named below the output folder, from being removed until end() is called for it.
  void begin(const std::string& folder);
  void end(const std::string& folder);

  /// What time it is, said twice: by the wall clock, and by the wall clock when the process began and what a steady
  /// clock counted since. They differ once somebody has set the wall clock.
  struct Now {
    Clock::WallTime by_wall_clock;
    Clock::WallTime by_steady_clock;
  };

  /// Removes `run_*` folders directly below the output folder in which nothing changed for `age`. Only those that are
  /// runs through and through: with anything in it that a run does not make, or without its logs, a folder is somebody
  /// else's and stays. Never follows a link. Returns how many it removed.
  int remove_older_than(std::chrono::seconds age, Now now);

 private:
  [[nodiscard]] bool is_going_on(const std::string& name) const;

  const ConfinedFolder& output_;
  mutable Mutex mutex_;
  std::multiset<std::string> going_on_ TESSERA_GUARDED_BY(mutex_);  // first parts of the folders' names
};

}  // namespace tessera
