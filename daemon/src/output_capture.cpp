#include "tessera/daemon/output_capture.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <utility>

#include "captured_output.h"
#include "tessera/base/file.h"
#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

/// Returns whether all that was buffered could be written.
bool flush_streams() {
  std::cout.flush();
  std::cerr.flush();
  std::clog.flush();
  const bool is_written = std::fflush(stdout) == 0 && std::fflush(stderr) == 0 && std::ferror(stdout) == 0 &&
                          std::ferror(stderr) == 0 && std::cout.good() && std::cerr.good() && std::clog.good();
  if (!is_written) {
    // The next call starts afresh.
    std::clearerr(stdout);
    std::clearerr(stderr);
    std::cout.clear();
    std::cerr.clear();
    std::clog.clear();
  }
  return is_written;
}

// A log that is followed while the call runs needs lines as they are printed; a file would be buffered by the block.
void print_by_the_line() {
  static std::once_flag once;
  std::call_once(once, [] { (void)std::setvbuf(stdout, nullptr, _IOLBF, 0); });
}

Status redirect(int target, int descriptor) {
  while (::dup2(target, descriptor) < 0) {
    if (errno != EINTR && errno != EBUSY) {
      return system_error("cannot redirect descriptor " + std::to_string(descriptor), errno);
    }
  }
  return {};
}

/// Makes descriptors 1 and 2 what they were before a capture. Negative: they were closed.
class OutputGuard {
 public:
  OutputGuard(int output, int error) : output_(output), error_(error) {}
  OutputGuard(const OutputGuard&) = delete;
  OutputGuard& operator=(const OutputGuard&) = delete;
  ~OutputGuard() { restore(); }

  [[nodiscard]] static Status redirect_to(int target) {
    TESSERA_RETURN_IF_ERROR(redirect(target, STDOUT_FILENO));
    return redirect(target, STDERR_FILENO);
  }

  void restore() {
    if (!std::exchange(is_restored_, true)) {
      restore(output_, STDOUT_FILENO);
      restore(error_, STDERR_FILENO);
    }
  }

  /// What descriptor 2 was; negative if it was closed.
  [[nodiscard]] int error() const { return error_; }

 private:
  static void restore(int kept, int descriptor) {
    if (kept >= 0) {
      (void)redirect(kept, descriptor);
    } else {
      (void)::close(descriptor);
    }
  }

  int output_;
  int error_;
  bool is_restored_ = false;
};

Result<UniqueFd> duplicate_of(int descriptor) {
  UniqueFd duplicate = UniqueFd::adopt(::fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!duplicate.is_open() && errno != EBADF) {
    return system_error("cannot duplicate descriptor " + std::to_string(descriptor), errno);
  }
  return duplicate;
}

// Descriptors 1 and 2 belong to the process, and so does the claim to redirect them.
std::atomic<bool> is_captured{false};

class CaptureClaim {
 public:
  CaptureClaim() : is_held_(!is_captured.exchange(true)) {}
  CaptureClaim(CaptureClaim&& other) noexcept : is_held_(std::exchange(other.is_held_, false)) {}
  CaptureClaim(const CaptureClaim&) = delete;
  CaptureClaim& operator=(const CaptureClaim&) = delete;
  CaptureClaim& operator=(CaptureClaim&&) = delete;
  ~CaptureClaim() {
    if (is_held_) {
      is_captured = false;
    }
  }

  [[nodiscard]] bool is_held() const { return is_held_; }

 private:
  bool is_held_;
};

/// A file without a name, for appending; in memory where no disk can be written. Disk comes first, so that a call that
/// prints without end holds no memory by it.
UniqueFd make_nameless_file() {
  for (const char* folder : {"/var/tmp", "/tmp"}) {
    UniqueFd file = UniqueFd::adopt(::open(folder, O_TMPFILE | O_RDWR | O_APPEND | O_CLOEXEC, 0600));
    if (file.is_open()) {
      return file;
    }
  }
  UniqueFd file = UniqueFd::adopt(::memfd_create("tessera_output", MFD_CLOEXEC));
  // Appending, because it is emptied while descriptors share its position.
  if (file.is_open() && ::fcntl(file.value(), F_SETFL, O_APPEND) < 0) {
    return {};
  }
  return file;
}

/// Moves what the scratch file holds to the end of another file.
Status move_content(int source, int target) {
  std::array<std::byte, 16384> piece{};
  for (std::uint64_t offset = 0;;) {
    TESSERA_ASSIGN_OR_RETURN(const std::size_t count, read_at(source, offset, piece));
    if (count == 0) {
      break;
    }
    TESSERA_RETURN_IF_ERROR(write_all(target, std::span(piece).first(count)));
    offset += count;
  }
  if (::ftruncate(source, 0) < 0) {
    return system_error("cannot empty a scratch file", errno);
  }
  return {};
}

/// The file for output of a call without a folder; used again, by one capture at a time. `error` is what descriptor 2
/// is otherwise.
Result<int> scratch_file(int error) {
  // Never destroyed: after exit(3), whose handlers come later, what it holds is still told.
  static UniqueFd& file = *new UniqueFd();
  if (file.is_open() && ::lseek(file.value(), 0, SEEK_END) != 0) {
    // A program that an earlier call started still prints, which no later call is to be taken for.
    (void)move_content(file.value(), error);
    file = UniqueFd();
  }
  if (!file.is_open()) {
    file = make_nameless_file();
    if (!file.is_open()) {
      return system_error("cannot make a file for what a call prints", errno);
    }
  }
  return file.value();
}

Error lost_output(const Run& run) {
  return {ErrorCode::kUnavailable, "cannot write all that a call printed to '" + run.log_path().string() + "'"};
}

/// Writes to the run's log; to the scratch file while there is none.
class LogCapture final : public OutputCapture {
 public:
  LogCapture(CaptureClaim claim, int output, int error, Run& run)
      : claim_(std::move(claim)), run_(run), guard_(output, error) {}

  ~LogCapture() override { (void)end(); }

  Status end() override {
    if (std::exchange(has_ended_, true)) {
      return {};
    }
    captured_output().kept_aside = -1;
    if (kept_aside_ >= 0) {
      run_.watch_log(nullptr);
    }
    const bool is_written = flush_streams();
    guard_.restore();
    TESSERA_RETURN_IF_ERROR(move_to_log());
    return is_written ? Status() : Status(lost_output(run_));
  }

  Status begin() {
    if (run_.has_folder()) {
      TESSERA_ASSIGN_OR_RETURN(const int log, run_.log_descriptor());
      return OutputGuard::redirect_to(log);
    }
    TESSERA_ASSIGN_OR_RETURN(kept_aside_, scratch_file(guard_.error()));
    captured_output().kept_aside = kept_aside_;
    run_.watch_log([this](int log) { continue_in(log); });
    return OutputGuard::redirect_to(kept_aside_);
  }

 private:
  /// The folder was made during the call: what comes now goes to its log at once.
  void continue_in(int log) const {
    if (move_content(kept_aside_, log)) {
      (void)OutputGuard::redirect_to(log);
    }
  }

  Status move_to_log() {
    if (kept_aside_ < 0 || ::lseek(kept_aside_, 0, SEEK_END) == 0) {
      return {};
    }
    const Result<int> log = run_.log_descriptor();
    const Status moved = log ? move_content(kept_aside_, *log) : Status(log.error());
    if (!moved) {
      (void)::ftruncate(kept_aside_, 0);
      return Error(moved.error().code(), "cannot write '" + run_.log_path().string() + "': " + moved.error().message());
    }
    return {};
  }

  CaptureClaim claim_;
  Run& run_;
  bool has_ended_ = false;
  int kept_aside_ = -1;
  OutputGuard guard_;
};

/// Copies what comes through a pipe to the run's log and to what was descriptor 2.
class TeeCapture final : public OutputCapture {
 public:
  TeeCapture(CaptureClaim claim, int output, int error, Run& run)
      : claim_(std::move(claim)), run_(run), guard_(output, error) {}

  ~TeeCapture() override { (void)end(); }

  Status end() override {
    if (std::exchange(has_ended_, true)) {
      return {};
    }
    (void)flush_streams();
    guard_.restore();
    if (!copier_.joinable()) {
      return {};
    }
    // Children of the endpoint may keep the pipe open for ever, so its end is not waited for: what is in it now,
    // counts.
    (void)::eventfd_write(stop_.value(), 1);
    copier_.join();
    captured_output().pipe = -1;
    return is_log_whole_ ? Status() : Status(lost_output(run_));
  }

  Status begin() {
    TESSERA_ASSIGN_OR_RETURN(log_, run_.log_descriptor());
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) < 0) {
      return system_error("cannot make a pipe", errno);
    }
    read_end_ = UniqueFd::adopt(ends[0]);
    const UniqueFd write_end = UniqueFd::adopt(ends[1]);
    // Only the reading end: a writer that met a full pipe would lose its lines.
    if (::fcntl(read_end_.value(), F_SETFL, O_NONBLOCK) < 0) {
      return system_error("cannot set up a pipe", errno);
    }
    stop_ = UniqueFd::adopt(::eventfd(0, EFD_CLOEXEC));
    if (!stop_.is_open()) {
      return system_error("cannot make an event descriptor", errno);
    }
    TESSERA_RETURN_IF_ERROR(OutputGuard::redirect_to(write_end.value()));
    copier_ = std::thread([this] { copy_until_stopped(); });
    captured_output().pipe = read_end_.value();
    return {};
  }

 private:
  void copy_until_stopped() {
    std::array<pollfd, 2> events{pollfd{read_end_.value(), POLLIN, 0}, pollfd{stop_.value(), POLLIN, 0}};
    for (;;) {
      if (::poll(events.data(), events.size(), -1) < 0) {
        if (errno != EINTR) {
          return;
        }
        continue;
      }
      if (!copy_what_is_there() || events[1].revents != 0) {
        return;
      }
    }
  }

  /// Returns false at the end of the pipe.
  bool copy_what_is_there() {
    std::array<std::byte, 16384> piece{};
    for (;;) {
      const ssize_t count = ::read(read_end_.value(), piece.data(), piece.size());
      if (count == 0) {
        return false;
      }
      if (count > 0) {
        const auto bytes = std::span<const std::byte>(piece).first(static_cast<std::size_t>(count));
        if (!write_all(log_, bytes)) {
          is_log_whole_ = false;
        }
        if (guard_.error() >= 0) {
          (void)write_all(guard_.error(), bytes);
        }
      } else if (errno != EINTR) {
        return true;
      }
    }
  }

  CaptureClaim claim_;
  Run& run_;
  bool has_ended_ = false;
  bool is_log_whole_ = true;  // of the copier, until it has ended
  int log_ = -1;
  UniqueFd read_end_;
  UniqueFd stop_;
  OutputGuard guard_;
  std::thread copier_;
};

}  // namespace

Result<StandardOutput> StandardOutput::keep() {
  TESSERA_ASSIGN_OR_RETURN(UniqueFd output, duplicate_of(STDOUT_FILENO));
  TESSERA_ASSIGN_OR_RETURN(UniqueFd error, duplicate_of(STDERR_FILENO));
  return StandardOutput(std::move(output), std::move(error));
}

Result<std::unique_ptr<OutputCapture>> StandardOutput::capture(Run& run, OutputCapture::Target target) const {
  CaptureClaim claim;
  if (!claim.is_held()) {
    return Error(ErrorCode::kUnavailable, "the output of this process is captured already");
  }
  (void)flush_streams();
  print_by_the_line();
  if (target == OutputCapture::Target::kRunLogAndError) {
    auto capture = std::make_unique<TeeCapture>(std::move(claim), output_.value(), error_.value(), run);
    TESSERA_RETURN_IF_ERROR(capture->begin());
    return std::unique_ptr<OutputCapture>(std::move(capture));
  }
  auto capture = std::make_unique<LogCapture>(std::move(claim), output_.value(), error_.value(), run);
  TESSERA_RETURN_IF_ERROR(capture->begin());
  return std::unique_ptr<OutputCapture>(std::move(capture));
}

}  // namespace tessera
