// Waiting for the end of a daemon: a signal, or the end of the process that started it.
#pragma once

#include <array>
#include <csignal>

#include "tessera/base/unique_fd.h"

namespace tessera {

/// Has SIGTERM, SIGINT and SIGHUP end wait() instead of the process; not a SIGHUP that is ignored (nohup). No thread
/// blocks them, so that programs that an endpoint starts can be ended by them. One at a time in a process, on one
/// thread.
class StopSignal final {
 public:
  /// Throws std::system_error.
  StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;
  ~StopSignal();

  /// Waits for a signal, or, if `pipe_fd` is not negative, for the other end of that pipe to be closed. The next signal
  /// ends the process, for who does not want to wait for running calls. Returns why, for the log: the name of
  /// the signal, or a sentence.
  [[nodiscard]] const char* wait(int pipe_fd);

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT, SIGHUP};

  void give_signals_back();

  std::array<struct sigaction, kSignals.size()> before_{};
  UniqueFd event_;
};

}  // namespace tessera
