#include "run_cleanup.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>

#include "tessera/base/uuid.h"

namespace tessera {
namespace {

std::string first_part(const std::string& folder) {
  return folder.substr(0, folder.find('/'));
}

/// When a file or folder was last changed; nothing for links and what is not there.
std::optional<Clock::WallTime> change_time(const std::filesystem::path& path) {
  struct stat facts{};
  if (::lstat(path.c_str(), &facts) != 0 || S_ISLNK(facts.st_mode)) {
    return std::nullopt;
  }
  return Clock::WallTime(std::chrono::seconds(facts.st_mtim.tv_sec));
}

/// When anything of a run last changed: its array files, or its log.
std::optional<Clock::WallTime> last_change(const std::filesystem::path& folder) {
  std::optional<Clock::WallTime> last = change_time(folder);
  if (last) {
    for (const char* part : {"logs", "logs/tesseract.log", "logs/metrics.csv"}) {
      last = std::max(last, change_time(folder / part));
    }
  }
  return last;
}

/// How long ago a change was. Where the clocks differ, the wall clock is right about changes since it was set, the
/// steady one about those before; wrong is what lies ahead, or longer ago. So a run goes late, but never early.
Clock::WallTime::duration time_since(Clock::WallTime change, const RunCleanup::Now& now) {
  const Clock::WallTime earlier = std::min(now.by_wall_clock, now.by_steady_clock);
  const Clock::WallTime later = std::max(now.by_wall_clock, now.by_steady_clock);
  return (change <= earlier ? earlier : later) - change;
}

namespace fs = std::filesystem;

// Run ids with slashes nest folders; one of more levels than this is rather kept.
constexpr int kMaxLevels = 64;

fs::file_type type_of(const fs::directory_entry& entry) {
  std::error_code fault;
  return entry.symlink_status(fault).type();
}

/// Whether `is_right` holds for all that lies in a folder; false for a folder that cannot be read.
template <class Predicate>
bool holds_only(const fs::path& folder, Predicate is_right) {
  std::error_code fault;
  fs::directory_iterator entry(folder, fault);
  for (const fs::directory_iterator end; !fault && entry != end; entry.increment(fault)) {
    if (!is_right(*entry)) {
      return false;
    }
  }
  return !fault;
}

bool is_file(const fs::directory_entry& entry) {
  return type_of(entry) == fs::file_type::regular;
}

/// Whether a folder is the `logs` of a run, complete and with nothing else in it.
bool is_logs(const fs::path& folder) {
  std::size_t parts = 0;
  const auto is_part = [&parts](const fs::directory_entry& entry) {
    const std::string name = entry.path().filename().string();
    if (name == "artifacts") {
      ++parts;
      return type_of(entry) == fs::file_type::directory && holds_only(entry.path(), is_file);
    }
    parts += name == "tesseract.log" || name == "metrics.csv" ? 1U : 0U;
    return (name == "tesseract.log" || name == "metrics.csv" || name == "parameters.json") && is_file(entry);
  };
  const bool is_pure = holds_only(folder, is_part);
  return is_pure && parts == 3;
}

/// `<uuid>.bin`, as answers in json+binref are written.
bool is_array_file(const fs::directory_entry& entry) {
  const fs::path name = entry.path().filename();
  return name.extension() == ".bin" && Uuid::parse(name.stem().string()).has_value() && is_file(entry);
}

/// Whether a run made a folder and all that lies in it, so that it may be removed.
bool is_run(const fs::path& folder, int levels) {
  bool has_logs = false;
  return holds_only(folder,
                    [&has_logs, levels](const fs::directory_entry& entry) {
                      if (type_of(entry) != fs::file_type::directory) {
                        return is_array_file(entry);
                      }
                      const bool is_made_by_run = entry.path().filename() == "logs"
                                                      ? is_logs(entry.path())
                                                      : levels > 1 && is_run(entry.path(), levels - 1);
                      has_logs = has_logs || is_made_by_run;
                      return is_made_by_run;
                    }) &&
         has_logs;
}

}  // namespace

void RunCleanup::begin(const std::string& folder) {
  const MutexLock lock(mutex_);
  going_on_.insert(first_part(folder));
}

void RunCleanup::end(const std::string& folder) {
  const MutexLock lock(mutex_);
  const auto found = going_on_.find(first_part(folder));
  if (found != going_on_.end()) {
    going_on_.erase(found);
  }
}

bool RunCleanup::is_going_on(const std::string& name) const {
  const MutexLock lock(mutex_);
  return going_on_.contains(name);
}

int RunCleanup::remove_older_than(std::chrono::seconds age, Now now) {
  std::error_code fault;
  int removed = 0;
  for (std::filesystem::directory_iterator entry(output_.path(), fault), end; !fault && entry != end;
       entry.increment(fault)) {
    const std::string name = entry->path().filename().string();
    std::error_code type_fault;
    if (!name.starts_with("run_") ||
        entry->symlink_status(type_fault).type() != std::filesystem::file_type::directory) {
      continue;
    }
    const std::optional<Clock::WallTime> changed = last_change(entry->path());
    if (!changed || time_since(*changed, now) < age || is_going_on(name) || !is_run(entry->path(), kMaxLevels)) {
      continue;
    }
    std::error_code removal_fault;
    std::filesystem::remove_all(entry->path(), removal_fault);
    if (!removal_fault && ++removed == kMaxRemovals) {
      break;
    }
  }
  return removed;
}

}  // namespace tessera
