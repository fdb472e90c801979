// The commands of `tessera`, and how one ends that cannot do what it was asked.
#pragma once

#include <span>
#include <stdexcept>
#include <string>

namespace tessera {

/// What the process exits with (PROTOCOL.md section 12.1).
enum class ExitCode {
  kSuccess = 0,
  kFailure = 1,  ///< an endpoint, a module, the environment or the system failed
  kUsage = 2,    ///< the command line or the payload is wrong
  kAddressInUse = 3,
};

/// Ends a command: main() prints the text to standard error and exits with the code. Only used inside this folder.
class CommandError final : public std::runtime_error {
 public:
  CommandError(ExitCode code, const std::string& text) : std::runtime_error(text), code_(code) {}
  [[nodiscard]] ExitCode code() const { return code_; }

 private:
  ExitCode code_;
};

/// The words behind the name of the command.
using Arguments = std::span<const std::string>;

/// Each reads its arguments and does its work; they throw CommandError. One command a process.
ExitCode serve_command(Arguments arguments);
ExitCode run_command(Arguments arguments);
ExitCode gpu_command(Arguments arguments);
ExitCode call_command(Arguments arguments);
ExitCode probe_command(Arguments arguments);
ExitCode top_command(Arguments arguments);
ExitCode list_command(Arguments arguments);
ExitCode new_command(Arguments arguments);
ExitCode build_command(Arguments arguments);

}  // namespace tessera
