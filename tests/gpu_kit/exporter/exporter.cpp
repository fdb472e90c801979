#include "exporter/exporter.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <stdexcept>

namespace tessera::gpu_kit {

Exporter::Exporter(Pool pool) {
  int down[2];
  int up[2];
  if (::pipe2(down, O_CLOEXEC) != 0 || ::pipe2(up, O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(down[0], STDIN_FILENO);
    ::dup2(up[1], STDOUT_FILENO);
    ::execl("/proc/self/exe", "exporter", "--exporter", pool == Pool::kKept ? "kept" : "none", nullptr);
    ::_exit(127);
  }
  ::close(down[0]);
  ::close(up[1]);
  to_ = down[1];
  from_ = up[0];
}

Exporter::~Exporter() {
  ::close(to_);
  kill();
  ::close(from_);
}

void Exporter::kill() {
  if (pid_ > 0) {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }
}

std::string Exporter::ask(const std::string& line) {
  const std::string text = line + "\n";
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = ::write(to_, text.data() + written, text.size() - written);
    if (count <= 0) {
      throw std::runtime_error("the exporting process has ended");
    }
    written += static_cast<std::size_t>(count);
  }
  for (;;) {
    if (const std::size_t end = rest_.find('\n'); end != std::string::npos) {
      std::string reply = rest_.substr(0, end);
      rest_.erase(0, end + 1);
      if (reply.starts_with("error ")) {
        throw std::runtime_error("the exporting process: " + reply.substr(6));
      }
      return reply;
    }
    char buffer[4096];
    const ssize_t count = ::read(from_, buffer, sizeof(buffer));
    if (count <= 0) {
      throw std::runtime_error("the exporting process has ended");
    }
    rest_.append(buffer, static_cast<std::size_t>(count));
  }
}

Exporter::Export Exporter::make(std::size_t size_bytes, std::uint64_t seed, std::size_t offset_bytes) {
  const std::string reply =
      ask("make " + std::to_string(size_bytes) + " " + std::to_string(seed) + " " + std::to_string(offset_bytes));
  const std::size_t space = reply.find(' ');
  return {reply.substr(space + 1), std::stod(reply.substr(0, space))};
}

void Exporter::drop() {
  ask("drop");
}

std::optional<std::string> Exporter::read(const std::string& reference, std::size_t size_bytes, std::uint64_t seed) {
  std::string reply = ask("read " + std::to_string(size_bytes) + " " + std::to_string(seed) + " " + reference);
  return reply == "ok" ? std::nullopt : std::optional<std::string>(std::move(reply));
}

}  // namespace tessera::gpu_kit
