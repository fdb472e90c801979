#include "finished_exports.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "tessera/base/ascii.h"

namespace tessera {
namespace {

// 33 bytes each: well within the 64 KiB that a server takes.
constexpr std::size_t kMaxIdsPerRequest = 1000;
constexpr std::size_t kMaxIdBytes = 64;
// A server that cannot be reached is asked again this much later, until its ids have lost their meaning.
constexpr std::chrono::seconds kRetryTime{5};
constexpr std::chrono::seconds kMeaningTime{300};  // PROTOCOL.md section 8.1
constexpr std::size_t kMaxIds = 100'000;

bool is_id(std::string_view text) {
  return !text.empty() && text.size() <= kMaxIdBytes &&
         std::ranges::all_of(text, [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
}

}  // namespace

void FinishedExports::add(std::string_view id) {
  if (!is_id(id)) {
    return;
  }
  const Instant now = std::chrono::steady_clock::now();
  {
    const MutexLock lock(mutex_);
    if (const pid_t self = getpid(); owner_ != self) {
      // What a parent had finished with before a fork, it names itself.
      owner_ = self;
      ids_.clear();
    }
    if (ids_.size() < kMaxIds) {
      ids_.emplace_back(id);
    }
    last_use_ = now;
    last_added_ = now;
  }
  if (!run_in_background(shared_from_this(), now + idle_time_)) {
    flush();
  }
}

std::vector<std::string> FinishedExports::take() {
  std::vector<std::string> taken;
  const MutexLock lock(mutex_);
  if (ids_.empty() || owner_ != getpid()) {
    return taken;
  }
  last_use_ = std::chrono::steady_clock::now();
  const auto count = static_cast<std::ptrdiff_t>(std::min(ids_.size(), kMaxIdsPerRequest));
  taken.assign(std::make_move_iterator(ids_.begin()), std::make_move_iterator(ids_.begin() + count));
  ids_.erase(ids_.begin(), ids_.begin() + count);
  return taken;
}

void FinishedExports::give_back(std::vector<std::string> ids) {
  if (ids.empty()) {
    return;
  }
  {
    const MutexLock lock(mutex_);
    ids_.insert(ids_.begin(), std::make_move_iterator(ids.begin()), std::make_move_iterator(ids.end()));
  }
  static_cast<void>(run_in_background(shared_from_this(), std::chrono::steady_clock::now() + kRetryTime));
}

bool FinishedExports::is_empty() {
  const MutexLock lock(mutex_);
  return ids_.empty() || owner_ != getpid();
}

void FinishedExports::flush() noexcept {
  try {
    while (!is_empty()) {
      make_request_(*this);
    }
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
    // The ids were given back; without the server nothing can be done for them.
  }
}

Chore::Instant FinishedExports::run(Instant now) noexcept {
  {
    const MutexLock lock(mutex_);
    if (ids_.empty()) {
      return Instant::max();
    }
    if (now < last_use_ + idle_time_) {
      return last_use_ + idle_time_;
    }
  }
  flush();
  const MutexLock lock(mutex_);
  if (now > last_added_ + kMeaningTime) {
    ids_.clear();
  }
  return ids_.empty() ? Instant::max() : now + kRetryTime;
}

std::shared_ptr<void> loan_of(std::shared_ptr<FinishedExports> exports, const std::optional<std::string>& id) {
  if (!id) {
    return nullptr;
  }
  struct Loan {
    std::shared_ptr<FinishedExports> exports;
    std::string id;
    pid_t owner = getpid();
    Loan(std::shared_ptr<FinishedExports> the_exports, std::string the_id)
        : exports(std::move(the_exports)), id(std::move(the_id)) {}
    Loan(const Loan&) = delete;
    Loan& operator=(const Loan&) = delete;
    ~Loan() {
      if (owner == getpid()) {
        exports->add(id);
      }
    }
  };
  return std::make_shared<Loan>(std::move(exports), *id);
}

}  // namespace tessera
