// Our own daemon in the test's process, with modules that were built.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "support/recording_logger.h"
#include "support/temp_folder.h"
#include "tessera/base/clock.h"
#include "tessera/daemon/daemon.h"

namespace tessera::testing {

/// Serves while it lives. One thread at a time; calls may come from any.
class ServedModules {
 public:
  /// `names` are those of modules, `examples/vectoradd` or `tests/doubler`, with spaces between them. Input, output and
  /// socket lie in a folder of its own.
  explicit ServedModules(std::string_view names, const std::function<void(DaemonOptions&)>& change = {});

  /// Of the one Tesseract that is served.
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(daemon_->port()); }
  [[nodiscard]] std::string unix_url() const { return "unix:" + (folder_.path() / "sock").string(); }
  [[nodiscard]] const TempFolder& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path input_path() const { return folder_.path() / "inputs"; }
  [[nodiscard]] std::filesystem::path output_path() const { return folder_.path() / "outputs"; }
  [[nodiscard]] RecordingLogger& logger() { return logger_; }
  void stop() { daemon_->stop(); }

 private:
  TempFolder folder_;
  SystemClock clock_;
  RecordingLogger logger_;
  std::unique_ptr<Daemon> daemon_;
};

}  // namespace tessera::testing
