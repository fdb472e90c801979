#include "module_probe.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <iostream>
#include <optional>
#include <span>

#include "tessera/base/file.h"
#include "tessera/base/unique_fd.h"
#include "tessera/tesseract/module.h"

namespace tessera {
namespace {

using Steady = std::chrono::steady_clock;

// A report is a letter, then texts, each ended by a NUL.
constexpr char kLoaded = 'L';
constexpr char kRefused = 'R';

std::string report_on(const std::filesystem::path& path) {
  const auto tesseract = load_module(path);
  std::string report;
  if (!tesseract) {
    report += kRefused;
    report.append(tesseract.error().message()).push_back('\0');
    return report;
  }
  const std::string& description = (*tesseract)->description();
  report += kLoaded;
  report.append((*tesseract)->name()).push_back('\0');
  report.append(description.empty() ? (*tesseract)->documentation(Endpoint::kApply) : description).push_back('\0');
  return report;
}

[[noreturn]] void report_and_end(const std::filesystem::path& path, int fd) {
  // Who reads the list shall not read what a module prints.
  (void)::dup2(STDERR_FILENO, STDOUT_FILENO);
  try {
    const std::string report = report_on(path);
    (void)write_all(fd, std::as_bytes(std::span(report)));
  } catch (const std::exception&) {
    ::_exit(1);  // the report is missing, and that is told
  }
  ::_exit(0);
}

/// Everything that comes through a pipe until it ends; nothing at the deadline.
std::optional<std::string> read_until(int fd, Steady::time_point deadline) {
  std::string text;
  std::array<char, 4096> piece{};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Steady::now());
    pollfd watched{.fd = fd, .events = POLLIN, .revents = 0};
    const int ready = left.count() > 0 ? ::poll(&watched, 1, static_cast<int>(left.count())) : 0;
    if (ready == 0) {
      return std::nullopt;
    }
    const ssize_t count = ready < 0 ? -1 : ::read(fd, piece.data(), piece.size());
    if (count < 0 && errno != EINTR) {
      return text;
    }
    if (count == 0) {
      return text;
    }
    text.append(piece.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string take_text(std::string_view& report) {
  const std::size_t end = std::min(report.find('\0'), report.size());
  std::string text(report.substr(0, end));
  report.remove_prefix(std::min(end + 1, report.size()));
  return text;
}

Error ended(const std::filesystem::path& path, int status) {
  // NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread
  const std::string how = WIFSIGNALED(status) ? std::string("by the signal ") + ::strsignal(WTERMSIG(status))
                                              : "with exit code " + std::to_string(WEXITSTATUS(status));
  return {ErrorCode::kInternal, path.string() + " ended the process that loaded it, " + how};
}

}  // namespace

Result<ModuleSummary> probe_module(const std::filesystem::path& path, std::chrono::seconds time) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    return system_error("cannot make a pipe", errno);
  }
  const UniqueFd read_end = UniqueFd::adopt(ends[0]);
  UniqueFd write_end = UniqueFd::adopt(ends[1]);
  std::cout.flush();
  const pid_t child = ::fork();
  if (child < 0) {
    return system_error("cannot start a process", errno);
  }
  if (child == 0) {
    report_and_end(path, write_end.value());
  }
  write_end = UniqueFd();
  const std::optional<std::string> report = read_until(read_end.value(), Steady::now() + time);
  if (!report) {
    ::kill(child, SIGKILL);
    (void)wait_for(child);
    return Error(ErrorCode::kDeadlineExceeded,
                 path.string() + " is not loaded after " + std::to_string(time.count()) + " s");
  }
  const int status = wait_for(child);
  if (report->empty()) {
    return ended(path, status);
  }
  std::string_view rest = std::string_view(*report).substr(1);
  std::string first = take_text(rest);
  if (report->front() == kRefused) {
    return Error(ErrorCode::kInvalidArgument, std::move(first));
  }
  return ModuleSummary{std::move(first), take_text(rest)};
}

}  // namespace tessera
