#include "program.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>
#include <thread>

#include "support/temp_folder.h"

namespace tessera::testing {
namespace {

using std::chrono_literals::operator""ms;
constexpr std::chrono::minutes kLongestRun{2};

std::string content_of(const std::filesystem::path& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  return content.str();
}

Words environment_words(const Environment& more) {
  Words words;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    if (!text.starts_with("TESSERACT_") && !text.starts_with("TESSERA_")) {
      words.emplace_back(text);
    }
  }
  for (const auto& [name, value] : more) {
    words.push_back(std::string(name).append("=").append(value));
  }
  return words;
}

std::vector<char*> pointers_to(Words& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

pid_t start_program(Words words, const std::filesystem::path& folder, const Environment& environment,
                    const std::filesystem::path& output, const std::filesystem::path& error) {
  Words variables = environment_words(environment);
  posix_spawn_file_actions_t actions{};
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, error.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  ::posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  pid_t process = 0;
  const int fault = ::posix_spawn(&process, words.front().c_str(), &actions, nullptr, pointers_to(words).data(),
                                  pointers_to(variables).data());
  ::posix_spawn_file_actions_destroy(&actions);
  EXPECT_EQ(fault, 0) << "cannot start " << words.front();
  return fault == 0 ? process : 0;
}

pid_t start(Words words, const std::filesystem::path& folder, const Environment& environment, int descriptors,
            const std::filesystem::path& output, const std::filesystem::path& error) {
  words.insert(words.begin(), TESSERA_PROGRAM);
  if (descriptors > 0) {
    // Both limits: the program raises the lower one.
    const Words limited{"/bin/sh", "-c", R"(ulimit -n "$0" && exec "$@")", std::to_string(descriptors)};
    words.insert(words.begin(), limited.begin(), limited.end());
  }
  return start_program(std::move(words), folder, environment, output, error);
}

// Whether the process has ended, and how.
bool has_ended(pid_t process, int& exit_code) {
  int status = 0;
  if (process == 0 || ::waitpid(process, &status, WNOHANG) != process) {
    return process == 0;
  }
  exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return true;
}

int wait_for(pid_t process) {
  int exit_code = -1;
  const auto deadline = std::chrono::steady_clock::now() + kLongestRun;
  while (!has_ended(process, exit_code)) {
    if (std::chrono::steady_clock::now() > deadline) {
      ADD_FAILURE() << "the program did not end";
      ::kill(process, SIGKILL);
      ::waitpid(process, nullptr, 0);
      return -1;
    }
    std::this_thread::sleep_for(2ms);
  }
  return exit_code;
}

}  // namespace

Outcome run_tessera(const Words& words, const std::filesystem::path& folder, const Environment& environment,
                    int descriptors) {
  const TempFolder scratch;
  Outcome outcome;
  outcome.exit_code =
      wait_for(start(words, folder, environment, descriptors, scratch.path() / "output", scratch.path() / "error"));
  outcome.output = content_of(scratch.path() / "output");
  outcome.error = content_of(scratch.path() / "error");
  return outcome;
}

Outcome run_script(const std::string& script, const std::filesystem::path& folder, const Environment& environment) {
  const TempFolder scratch;
  Environment all = environment;
  all["TESSERA"] = TESSERA_PROGRAM;
  Outcome outcome;
  outcome.exit_code = wait_for(
      start_program({"/bin/sh", "-c", script}, folder, all, scratch.path() / "output", scratch.path() / "error"));
  outcome.output = content_of(scratch.path() / "output");
  outcome.error = content_of(scratch.path() / "error");
  return outcome;
}

ServerProcess::ServerProcess(const Words& words, const std::filesystem::path& folder, const Environment& environment,
                             int descriptors, const std::filesystem::path& output)
    : log_file_(folder / "server.log") {
  Words all = words;
  all.insert(all.begin(), "serve");
  process_ = start(all, folder, environment, descriptors, output, log_file_);
  (void)wait_for_log("listening");
}

ServerProcess::~ServerProcess() {
  if (process_ != 0) {
    stop();
  }
}

std::uint16_t ServerProcess::port() const {
  const std::string text = log();
  std::smatch found;
  if (!std::regex_search(text, found, std::regex("\\bport\"?[=:]([0-9]+)"))) {
    ADD_FAILURE() << "no port in the log:\n" << text;
    return 0;
  }
  return static_cast<std::uint16_t>(std::stoul(found[1].str()));
}

std::string ServerProcess::log() const {
  return content_of(log_file_);
}

bool ServerProcess::wait_for_log(const std::string& text) {
  const auto deadline = std::chrono::steady_clock::now() + kLongestRun;
  while (log().find(text) == std::string::npos) {
    if (process_ == 0 || std::chrono::steady_clock::now() > deadline) {
      return false;
    }
    if (has_ended(process_, exit_code_)) {
      process_ = 0;
    }
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

int ServerProcess::stop(int signal) {
  if (process_ != 0) {
    ::kill(process_, signal);
  }
  return wait();
}

int ServerProcess::wait() {
  if (process_ != 0) {
    exit_code_ = wait_for(process_);
    process_ = 0;
  }
  return exit_code_;
}

}  // namespace tessera::testing
