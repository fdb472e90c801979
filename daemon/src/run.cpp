#include "tessera/daemon/run.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "run_rows.h"
#include "tessera/base/file.h"
#include "tessera/base/mutex.h"
#include "tessera/base/random_id.h"
#include "tessera/base/utf8.h"
#include "tessera/tesseract/endpoint_error.h"

namespace tessera {
namespace {

// Of a folder's name (NAME_MAX), and of all of a run's folders together: room is left for what lies in them.
constexpr std::size_t kMaxComponentBytes = 255;
constexpr std::size_t kMaxFolderBytes = 1024;

/// Throws what a Context's methods throw.
void require(const Status& status) {
  if (!status) {
    throw EndpointError("OSError", status.error().message());
  }
}

class FolderRun final : public Run {
 public:
  FolderRun(const ConfinedFolder& output, std::string folder, const Clock& clock,
            std::function<std::shared_ptr<GpuSystem>()> gpus)
      : output_(output),
        logs_(folder.empty() ? "logs" : std::move(folder) + "/logs"),
        clock_(clock),
        gpus_(std::move(gpus)) {}

  [[nodiscard]] std::shared_ptr<GpuSystem> gpus() override { return gpus_ ? gpus_() : nullptr; }

  Status make_folder() override {
    std::function<void(int)> when_made;
    int log = -1;
    {
      const MutexLock lock(mutex_);
      if (log_.is_open()) {
        return {};
      }
      std::error_code fault;
      const bool is_new = !std::filesystem::exists(output_.path() / logs_, fault) && !fault;
      if (const Status made = make_files(); !made) {
        if (is_new) {
          remove_files();
        }
        return made;
      }
      when_made = std::exchange(when_made_, nullptr);
      log = log_.value();
    }
    if (when_made) {
      when_made(log);
    }
    return {};
  }

  void remove_empty_folder() override {
    const MutexLock lock(mutex_);
    struct stat log{};
    if (log_.is_open() && metric_counts_.empty() && parameters_.size() == 0 && ::fstat(log_.value(), &log) == 0 &&
        log.st_size == 0) {
      remove_files();
    }
  }

  Result<int> log_descriptor() override {
    TESSERA_RETURN_IF_ERROR(make_folder());
    const MutexLock lock(mutex_);
    return log_.value();
  }

  std::filesystem::path log_path() const override { return path_of("tesseract.log"); }

  bool has_folder() const override {
    const MutexLock lock(mutex_);
    return log_.is_open();
  }

  void watch_log(std::function<void(int)> when_made) override {
    const MutexLock lock(mutex_);
    when_made_ = std::move(when_made);
  }

  void log(std::string_view line) override {
    // What was printed before this line shall stand before it.
    (void)std::fflush(stdout);
    std::cout.flush();
    const Result<int> descriptor = log_descriptor();
    if (!descriptor) {
      throw EndpointError("OSError", descriptor.error().message());
    }
    std::string text = replaced_utf8(line);
    text += '\n';
    require(write_text(*descriptor, text, "tesseract.log"));
  }

  void log_metric(std::string_view key, double value, std::optional<std::int64_t> step) override {
    require(make_folder());
    const MutexLock lock(mutex_);
    const std::int64_t count = metric_counts_[std::string(key)]++;
    require(
        write_text(metrics_.value(), metrics_row(clock_.wall_now(), key, value, step.value_or(count)), "metrics.csv"));
  }

  void log_parameter(std::string_view key, const Value& value) override {
    require(make_folder());
    const MutexLock lock(mutex_);
    parameters_.set(std::string(key), value);
    const Result<UniqueFd> file = output_.open_for_append(logs_ + "/parameters.json", true);
    if (!file) {
      throw EndpointError("OSError", file.error().message());
    }
    require(write_text(file->value(), parameters_document(parameters_), "parameters.json"));
  }

  void log_artifact(const std::filesystem::path& source) override {
    std::error_code fault;
    if (!std::filesystem::is_regular_file(source, fault)) {
      throw EndpointError("FileNotFoundError", "Artifact file not found: " + source.string());
    }
    require(make_folder());
    const Result<UniqueFd> file = output_.open_for_append(logs_ + "/artifacts/" + source.filename().string(), true);
    if (!file) {
      throw EndpointError("OSError", file.error().message());
    }
    require(copy_to(file->value(), source, "artifacts/" + source.filename().string()));
  }

 private:
  [[nodiscard]] std::filesystem::path path_of(std::string_view name) const { return output_.path() / logs_ / name; }

  /// `file` is the name below logs/.
  Status write_text(int fd, std::string_view text, std::string_view file) const {
    const Status written = write_all(fd, std::as_bytes(std::span(text)));
    if (!written) {
      const Error& error = written.error();
      return Error(error.code(), "cannot write '" + path_of(file).string() + "': " + error.message(),
                   error.native_code());
    }
    return {};
  }

  Status copy_to(int target, const std::filesystem::path& source, std::string_view copy) const {
    const UniqueFd file = UniqueFd::adopt(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) {
      return system_error("cannot open '" + source.string() + "'", errno);
    }
    std::array<char, 65536> piece{};
    for (;;) {
      const ssize_t count = ::read(file.value(), piece.data(), piece.size());
      if (count < 0 && errno == EINTR) {
        continue;
      }
      if (count < 0) {
        return system_error("cannot read '" + source.string() + "'", errno);
      }
      if (count == 0) {
        return {};
      }
      TESSERA_RETURN_IF_ERROR(write_text(target, {piece.data(), static_cast<std::size_t>(count)}, copy));
    }
  }

  Status make_files() TESSERA_REQUIRES(mutex_) {
    TESSERA_RETURN_IF_ERROR(output_.create_folders(logs_ + "/artifacts"));
    TESSERA_ASSIGN_OR_RETURN(metrics_, output_.open_for_append(logs_ + "/metrics.csv", true));
    TESSERA_RETURN_IF_ERROR(write_text(metrics_.value(), kMetricsHeader, "metrics.csv"));
    TESSERA_ASSIGN_OR_RETURN(log_, output_.open_for_append(logs_ + "/tesseract.log", true));
    return {};
  }

  /// Removes what make_files() made, if there are no artifacts, and each folder that is empty then.
  void remove_files() TESSERA_REQUIRES(mutex_) {
    if (!output_.remove_folder(logs_ + "/artifacts")) {
      return;
    }
    log_ = {};
    metrics_ = {};
    Status removed;
    for (const char* file : {"/tesseract.log", "/metrics.csv"}) {
      removed = removed ? output_.remove_file(logs_ + file) : removed;
    }
    // Up to the output folder itself; the first that holds anything ends it.
    for (std::string folder = logs_; removed && !folder.empty();) {
      removed = output_.remove_folder(folder);
      const std::size_t slash = folder.rfind('/');
      folder.resize(slash == std::string::npos ? 0 : slash);
    }
  }

  const ConfinedFolder& output_;
  const std::string logs_;
  const Clock& clock_;
  const std::function<std::shared_ptr<GpuSystem>()> gpus_;
  mutable Mutex mutex_;
  UniqueFd log_ TESSERA_GUARDED_BY(mutex_);  // open once the folder is made
  UniqueFd metrics_ TESSERA_GUARDED_BY(mutex_);
  std::map<std::string, std::int64_t> metric_counts_ TESSERA_GUARDED_BY(mutex_);
  Object parameters_ TESSERA_GUARDED_BY(mutex_);
  std::function<void(int)> when_made_ TESSERA_GUARDED_BY(mutex_);
};

Error bad_run_id(std::string_view why) {
  return {ErrorCode::kInvalidArgument, "run_id " + std::string(why)};
}

}  // namespace

Result<std::string> Run::folder_name(const std::optional<std::string>& run_id) {
  if (!run_id) {
    return "run_" + RandomId::make().dashed();
  }
  if (run_id->empty()) {
    return bad_run_id("must not be empty");
  }
  // They would break lines of logs and of terminals that list the folder.
  if (std::ranges::any_of(*run_id, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    return bad_run_id("must not hold control characters");
  }
  std::string folder = "run_" + *run_id;
  if (folder.size() > kMaxFolderBytes) {
    return bad_run_id("is too long: " + std::to_string(run_id->size()) + " bytes");
  }
  for (std::string_view rest = folder; !rest.empty();) {
    const std::size_t slash = rest.find('/');
    const std::string_view component = rest.substr(0, slash);
    if (component == "..") {
      return bad_run_id("must not lead out of its folder");
    }
    // What lies there is a run's own: another's files would be in their way, and keep the run from being removed.
    if (component == "logs") {  // the first is never this: it has a prefix
      return bad_run_id("must not lead into the logs of a run");
    }
    if (component.size() > kMaxComponentBytes) {
      return bad_run_id("is too long: " + std::to_string(component.size()) + " bytes in one folder name");
    }
    rest = slash == std::string_view::npos ? std::string_view() : rest.substr(slash + 1);
  }
  return folder;
}

std::unique_ptr<Run> Run::make(const ConfinedFolder& output, std::string folder, const Clock& clock,
                               std::function<std::shared_ptr<GpuSystem>()> gpus) {
  return std::make_unique<FolderRun>(output, std::move(folder), clock, std::move(gpus));
}

}  // namespace tessera
