#include "prepared_outputs.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include <algorithm>
#include <system_error>
#include <utility>

namespace tessera {
namespace {

// Of the room that is left on the file system: what is prepared must not be missing elsewhere.
constexpr std::uint64_t kMaxShare = 8;

}  // namespace

PreparedOutputs::~PreparedOutputs() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    is_stopping_ = true;
    changed_.notify_all();
    thread = std::move(thread_);
  }
  if (thread.joinable()) {
    thread.join();
  }
}

UniqueFd PreparedOutputs::take(std::uint64_t size_bytes) {
  const MutexLock lock(mutex_);
  const auto found = std::ranges::find_if(ready_, [&](const File& file) { return file.size_bytes >= size_bytes; });
  if (found == ready_.end() || size_bytes < kMinFileBytes) {
    return {};
  }
  UniqueFd file = std::move(found->descriptor);
  ready_.erase(found);
  return file;
}

void PreparedOutputs::note_size(std::uint64_t size_bytes) {
  if (size_bytes < kMinFileBytes || size_bytes > max_bytes_) {
    return;
  }
  const MutexLock lock(mutex_);
  // What was written once only may not come again.
  if (is_stopping_ || std::exchange(noted_bytes_, size_bytes) != size_bytes) {
    return;
  }
  wanted_bytes_ = size_bytes;
  last_use_ = std::chrono::steady_clock::now();
  if (thread_.joinable()) {
    changed_.notify_all();
    return;
  }
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    wanted_bytes_ = 0;  // tried again with the next output
  }
}

// A file that is being made just now is of a size that is not wanted any more once it is.
bool PreparedOutputs::give_up() {
  std::vector<File> given_up;
  const MutexLock lock(mutex_);
  given_up.swap(ready_);
  wanted_bytes_ = 0;
  noted_bytes_ = 0;
  return !given_up.empty();
}

std::uint64_t PreparedOutputs::ready_bytes() const {
  const MutexLock lock(mutex_);
  return sum_of_ready();
}

std::uint64_t PreparedOutputs::sum_of_ready() const {
  std::uint64_t sum = 0;
  for (const File& file : ready_) {
    sum += file.size_bytes;
  }
  return sum;
}

// Whether a further file is wanted, and may be.
bool PreparedOutputs::has_room() const {
  return wanted_bytes_ != 0 && ready_.size() < kMaxFiles && sum_of_ready() + wanted_bytes_ <= max_bytes_;
}

void PreparedOutputs::run() {
  mutex_.lock();
  while (!is_stopping_) {
    // Files of another size than is asked for now would only be in the way.
    std::erase_if(ready_,
                  [this](const File& file) TESSERA_REQUIRES(mutex_) { return file.size_bytes != wanted_bytes_; });
    if (wanted_bytes_ != 0 && std::chrono::steady_clock::now() - last_use_ >= idle_time_) {
      wanted_bytes_ = 0;
      continue;
    }
    if (has_room()) {
      const std::uint64_t size_bytes = wanted_bytes_;
      mutex_.unlock();
      UniqueFd file = make(size_bytes);
      mutex_.lock();
      if (file.is_open()) {
        ready_.push_back({std::move(file), size_bytes});
        continue;
      }
      wanted_bytes_ = 0;  // tried again with the next output
    }
    if (wanted_bytes_ == 0) {
      changed_.wait(mutex_);
    } else {
      changed_.wait_until(mutex_, last_use_ + idle_time_);
    }
  }
  ready_.clear();
  mutex_.unlock();
}

// A file with pages for so many bytes; closed if that cannot be, or is of no use.
UniqueFd PreparedOutputs::make(std::uint64_t size_bytes) const {
  Result<UniqueFd> file = folder_.create_unnamed_file();
  struct statfs facts{};
  if (!file || ::fstatfs(file->value(), &facts) != 0 || facts.f_type != TMPFS_MAGIC) {
    return {};
  }
  // A tmpfs without a limit of its size counts no blocks.
  const std::uint64_t left = facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize);
  if (facts.f_blocks != 0 && size_bytes > left / kMaxShare) {
    return {};
  }
  if (::fallocate(file->value(), 0, 0, static_cast<::off_t>(size_bytes)) != 0) {
    return {};
  }
  return *std::move(file);
}

}  // namespace tessera
