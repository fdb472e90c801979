#include "run_cleanup.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

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

int RunCleanup::remove_older_than(std::chrono::seconds age, Clock::WallTime now) {
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
    if (!changed || now - *changed < age || is_going_on(name)) {
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
