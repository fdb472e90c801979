// Where output that was captured waits, for who must save it from a signal handler.
#pragma once

#include <atomic>

namespace tessera {

/// Descriptors of the one capture that a process can have; -1 for none. Set by OutputCapture, read by the crash notice.
struct CapturedOutput {
  std::atomic<int> kept_aside = -1;  ///< a file without a name that holds all so far
  std::atomic<int> pipe = -1;        ///< another thread copies what comes through it
};

[[nodiscard]] inline CapturedOutput& captured_output() {
  static constinit CapturedOutput captured;
  return captured;
}

}  // namespace tessera
