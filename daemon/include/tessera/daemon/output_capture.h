// What a call prints, sent to its run's log (PROTOCOL.md section 13.1).
#pragma once

#include <memory>
#include <utility>

#include "tessera/base/result.h"
#include "tessera/base/unique_fd.h"
#include "tessera/daemon/run.h"

namespace tessera {

/// What this process writes to descriptors 1 and 2 goes elsewhere as long as one lives (foreign libraries too). The run
/// outlives it, and so does the StandardOutput that made it.
class OutputCapture {
 public:
  /// Where the output goes.
  enum class Target {
    kRunLog,          ///< the run's log only
    kRunLogAndError,  ///< the run's log, and what descriptor 2 is otherwise (the command line)
  };

  OutputCapture() = default;
  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;
  /// Ends the capture, if end() has not.
  virtual ~OutputCapture() = default;

  /// Ends the capture; what was written is in the log afterwards. Errors: of the system (a full disk), naming the file,
  /// if some of it is lost. A second call does nothing.
  [[nodiscard]] virtual Status end() = 0;
};

/// Descriptors 1 and 2 as they were when this was made, which is what every capture leaves behind: they are duplicated
/// once, and not for each call. Safe to use from any thread.
class StandardOutput {
 public:
  /// A descriptor that is closed counts as one, and is closed again after a capture. Errors: of the system (no free
  /// descriptors).
  [[nodiscard]] static Result<StandardOutput> keep();

  /// Sends both elsewhere, for the length of a call. At most one capture exists in a process at a time. The C and C++
  /// streams are flushed on both borders; from the first capture on stdout is written by the line. Without a folder
  /// yet, lines are kept aside and the run's folder is made only if there are any. Errors: kUnavailable if a capture
  /// exists; of the system.
  [[nodiscard]] Result<std::unique_ptr<OutputCapture>> capture(Run& run, OutputCapture::Target target) const;

 private:
  StandardOutput(UniqueFd output, UniqueFd error) : output_(std::move(output)), error_(std::move(error)) {}

  UniqueFd output_;
  UniqueFd error_;
};

}  // namespace tessera
