// A process of the test's own program, to which the test talks in lines.
#pragma once

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/file.h"
#include "tessera/base/unique_fd.h"

extern "C" char** environ;  // NOLINT(readability-redundant-declaration)

namespace tessera::testing {

/// Reads and writes lines on a descriptor. One thread at a time.
class LineChannel final {
 public:
  explicit LineChannel(int descriptor) : descriptor_(descriptor) {}

  /// Returns false if nobody listens.
  bool write(const std::string& line) const {  // NOLINT(modernize-use-nodiscard): the answer tells as well
    const std::string text = line + '\n';
    return write_all(descriptor_, std::as_bytes(std::span(text))).has_value();
  }
  /// Returns false at the end.
  bool read(std::string& line) {
    for (;;) {
      if (const std::size_t end = buffer_.find('\n'); end != std::string::npos) {
        line = buffer_.substr(0, end);
        buffer_.erase(0, end + 1);
        return true;
      }
      char chunk[4096];
      const ssize_t count = ::read(descriptor_, chunk, sizeof chunk);
      if (count <= 0) {
        return false;
      }
      buffer_.append(chunk, static_cast<std::size_t>(count));
    }
  }

 private:
  int descriptor_;
  std::string buffer_;
};

/// The program again (fork and exec), with other arguments and more environment; its descriptor 3 is a LineChannel to
/// the test. Killed with its owner. One thread at a time.
class ChildProcess final {
 public:
  using Variables = std::vector<std::pair<std::string, std::string>>;

  explicit ChildProcess(std::string role, const Variables& variables = {}) : channel_(-1) {
    // Made before the fork: a child of a program with threads may not allocate.
    std::vector<std::string> texts;
    for (char** variable = environ; *variable != nullptr; ++variable) {
      texts.emplace_back(*variable);
    }
    for (const auto& [name, value] : variables) {
      const std::string begin = name + "=";
      std::erase_if(texts, [&begin](const std::string& text) { return text.starts_with(begin); });
      texts.push_back(begin + value);
    }
    std::vector<char*> environment;
    environment.reserve(texts.size() + 1);
    for (std::string& text : texts) {
      environment.push_back(text.data());
    }
    environment.push_back(nullptr);
    std::string program = "/proc/self/exe";
    char* const arguments[] = {program.data(), role.data(), nullptr};

    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
      ADD_FAILURE() << "no socket pair";
      return;
    }
    ours_ = UniqueFd::adopt(ends[0]);
    const UniqueFd theirs = UniqueFd::adopt(ends[1]);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], kChildDescriptor);
      ::execve(program.c_str(), arguments, environment.data());
      ::_exit(127);
    }
    channel_ = LineChannel(ends[0]);
  }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  ~ChildProcess() { kill(); }

  static constexpr int kChildDescriptor = 3;

  [[nodiscard]] pid_t pid() const { return pid_; }
  void send(const std::string& line) { EXPECT_TRUE(channel_.write(line)) << line; }
  /// The next line; empty, and a failure, if there is none.
  [[nodiscard]] std::string receive() {
    std::string line;
    EXPECT_TRUE(channel_.read(line)) << "the child has ended";
    return line;
  }
  [[nodiscard]] std::string ask(const std::string& line) {
    send(line);
    return receive();
  }
  /// Ends it without warning, and waits until it is gone.
  void kill() {
    if (pid_ > 0) {
      ::kill(pid_, SIGKILL);
      int status = 0;
      ::waitpid(std::exchange(pid_, -1), &status, 0);
    }
  }
  /// Lets it end by itself: its channel is closed. Returns its exit status.
  [[nodiscard]] int finish() {
    ours_ = UniqueFd();
    int status = 0;
    ::waitpid(std::exchange(pid_, -1), &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  UniqueFd ours_;
  LineChannel channel_;
  pid_t pid_ = -1;
};

}  // namespace tessera::testing
