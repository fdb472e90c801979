// Waiting for the end of a daemon: a signal, or the end of the process that started it.
#pragma once

#include <csignal>

#include "tessera/base/unique_fd.h"

namespace tessera {

/// Takes SIGTERM, SIGINT and SIGHUP away from this thread and from those that it starts, so that only wait() sees them;
/// not a SIGHUP that is ignored (nohup). Make it before any thread is started. One thread at a time.
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
  void give_signals_back();

  sigset_t before_{};
  UniqueFd signals_;
};

}  // namespace tessera
