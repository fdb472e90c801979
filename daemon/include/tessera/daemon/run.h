// The files of one run: log, metrics, parameters, artifacts, array files (PROTOCOL.md section 13.1).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tessera/base/clock.h"
#include "tessera/base/confined_folder.h"
#include "tessera/base/result.h"
#include "tessera/tesseract/context.h"

namespace tessera {

/// One run of an endpoint. Its folder is made when something goes into it, or at once by make_folder(). Also the
/// Context that the endpoint sees. Methods may be called from any thread.
class Run : public Context {
 public:
  /// The folder of a run over HTTP: `run_<run_id>` below the output path; a new uuid without a run_id. Errors:
  /// kInvalidArgument if the id leads out of the output path, is empty, too long or holds NUL.
  [[nodiscard]] static Result<std::string> folder_name(const std::optional<std::string>& run_id);

  /// `folder` is below `output` (empty: the output path itself, as the command line has it). Both references outlive
  /// it.
  /// `gpus` is what Context::gpus() gives; it may be empty.
  [[nodiscard]] static std::unique_ptr<Run> make(const ConfinedFolder& output, std::string folder, const Clock& clock,
                                                 std::function<std::shared_ptr<GpuSystem>()> gpus = nullptr);

  /// Makes `logs/` with an empty tesseract.log, metrics.csv with its header and `artifacts/`, once.
  [[nodiscard]] virtual Status make_folder() = 0;
  /// A descriptor of logs/tesseract.log open for appending; makes the folder. Owned by the run.
  [[nodiscard]] virtual Result<int> log_descriptor() = 0;
  [[nodiscard]] virtual bool has_folder() const = 0;
  /// Calls `when_made` with the log's descriptor once the folder is made; replaces the one that was given before, an
  /// empty one ends it. For OutputCapture, which moves what it kept aside. Not called if the folder is there already.
  virtual void watch_log(std::function<void(int log)> when_made) = 0;
};

/// Sends what this process writes to descriptors 1 and 2 elsewhere, for the length of a call (foreign libraries too).
/// Process-wide: at most one exists at a time. The C and C++ streams are flushed on both borders.
class OutputCapture {
 public:
  /// Where the output goes.
  enum class Target {
    kRunLog,          ///< the run's log only
    kRunLogAndError,  ///< the run's log, and what was descriptor 2 before (the command line)
  };
  /// Without a folder yet, lines are kept aside and the run's folder is made only if there are any. Errors: of the
  /// system.
  [[nodiscard]] static Result<std::unique_ptr<OutputCapture>> start(Run& run, Target target);

  OutputCapture(const OutputCapture&) = delete;
  OutputCapture& operator=(const OutputCapture&) = delete;
  /// Ends the capture; what was written is in the log afterwards.
  virtual ~OutputCapture() = default;

 protected:
  OutputCapture() = default;
};

}  // namespace tessera
