// Runs the built program `tessera` as a process of its own.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::testing {

using Words = std::vector<std::string>;
using Environment = std::map<std::string, std::string>;

/// What a finished process left behind.
struct Outcome {
  int exit_code = -1;  ///< 128 + the signal if one ended it
  std::string output;
  std::string error;
};

/// Runs `tessera` with these words in a folder and waits for its end, at most two minutes. The environment is that of
/// the test without variables of tessera's, and `environment`. It may have so many `descriptors`; 0: as many as the
/// test.
[[nodiscard]] Outcome run_tessera(const Words& words, const std::filesystem::path& folder,
                                  const Environment& environment = {}, int descriptors = 0);
/// The same through `sh -c`: `$TESSERA` in the script is the program.
[[nodiscard]] Outcome run_script(const std::string& script, const std::filesystem::path& folder,
                                 const Environment& environment = {});

/// A `tessera serve` that runs as long as the object lives. One thread at a time.
class ServerProcess final {
 public:
  /// Starts it with `serve` before the words, and waits until it listens or has ended. It may have so many
  /// `descriptors`; 0: as many as the test. `output` is where its standard output goes.
  ServerProcess(const Words& words, const std::filesystem::path& folder, const Environment& environment = {},
                int descriptors = 0, const std::filesystem::path& output = "/dev/null");
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;
  ~ServerProcess();

  /// The port in its line "listening"; 0 if there is none.
  [[nodiscard]] std::uint16_t port() const;
  [[nodiscard]] pid_t process() const { return process_; }
  /// What it wrote to standard error so far.
  [[nodiscard]] std::string log() const;
  /// Waits until its log holds a text; false if it ended, or after two minutes.
  [[nodiscard]] bool wait_for_log(const std::string& text);
  /// Sends a signal and waits for the end; returns the exit code.
  int stop(int signal = SIGTERM);
  /// Waits for the end; returns the exit code.
  int wait();

 private:
  std::filesystem::path log_file_;
  pid_t process_ = 0;
  int exit_code_ = -1;
};

}  // namespace tessera::testing
