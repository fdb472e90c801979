// The files of one run: log, metrics, parameters, artifacts, array files (PROTOCOL.md section 13.1).
#pragma once

#include <filesystem>
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
  /// kInvalidArgument if the id holds a component `..` or control characters, or `logs` behind its first component,
  /// is empty or too long: 255 bytes a component, 1024 in all, `run_` included (PROTOCOL.md sections 2 and 17).
  [[nodiscard]] static Result<std::string> folder_name(const std::optional<std::string>& run_id);

  /// `folder` is below `output` (empty: the output path itself, as the command line has it). Both references outlive
  /// it. Makes nothing yet. `gpus` is what Context::gpus() gives; it may be empty.
  [[nodiscard]] static std::unique_ptr<Run> make(const ConfinedFolder& output, std::string folder, const Clock& clock,
                                                 std::function<std::shared_ptr<GpuSystem>()> gpus = nullptr);

  /// Makes `<folder>/logs/` with an empty tesseract.log, metrics.csv with its header and `artifacts/`, once; empties
  /// such files of an earlier run. Errors: of the file system; then nothing that this made is left.
  [[nodiscard]] virtual Status make_folder() = 0;
  /// Removes the folder again if nothing went into it: no line, metric, parameter, artifact or other file.
  virtual void remove_empty_folder() = 0;
  /// A descriptor of logs/tesseract.log open for appending; makes the folder. Owned by the run. Errors: as
  /// make_folder().
  [[nodiscard]] virtual Result<int> log_descriptor() = 0;
  /// Where tesseract.log is, or would be.
  [[nodiscard]] virtual std::filesystem::path log_path() const = 0;
  /// Whether make_folder() has succeeded.
  [[nodiscard]] virtual bool has_folder() const = 0;
  /// Calls `when_made`, which must not throw, with the log's descriptor on the thread that makes the folder; replaces
  /// the one that was given before, an empty one ends it. For OutputCapture, which moves what it kept aside. Not called
  /// if the folder is there already.
  virtual void watch_log(std::function<void(int log)> when_made) = 0;
};

}  // namespace tessera
