// What a call prints, sent to its run's log (PROTOCOL.md section 13.1).
#pragma once

#include <memory>

#include "tessera/base/result.h"
#include "tessera/daemon/run.h"

namespace tessera {

/// Sends what this process writes to descriptors 1 and 2 elsewhere, for the length of a call (foreign libraries too).
/// Process-wide: at most one exists at a time. The C and C++ streams are flushed on both borders; from the first
/// capture on stdout is written by the line. The run outlives it.
class OutputCapture {
 public:
  /// Where the output goes.
  enum class Target {
    kRunLog,          ///< the run's log only
    kRunLogAndError,  ///< the run's log, and what was descriptor 2 before (the command line)
  };
  /// Without a folder yet, lines are kept aside and the run's folder is made only if there are any. Errors:
  /// kUnavailable if one exists; of the system.
  [[nodiscard]] static Result<std::unique_ptr<OutputCapture>> start(Run& run, Target target);

  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;
  /// Ends the capture, if end() has not.
  virtual ~OutputCapture() = default;

  /// Ends the capture; what was written is in the log afterwards. Errors: of the system (a full disk), naming the file,
  /// if some of it is lost. A second call does nothing.
  [[nodiscard]] virtual Status end() = 0;

 protected:
  OutputCapture() = default;
};

}  // namespace tessera
