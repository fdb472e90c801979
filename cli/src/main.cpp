// The program `tessera`: finds the command and runs it.

#include <malloc.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstddef>
#include <exception>
#include <iostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "closest_word.h"
#include "command.h"
#include "standard_descriptors.h"

namespace tessera {
namespace {

struct Command {
  std::string_view name;
  std::string_view summary;
  ExitCode (*run)(Arguments);
  bool prints_result = true;  ///< to standard output; what is printed there else comes from modules
};

constexpr auto kCommands = std::to_array<Command>({
    {"serve", "Serve Tesseracts over HTTP", serve_command, false},
    {"run", "Run one endpoint of a Tesseract, without a server", run_command},
    {"call", "Call a Tesseract that is served", call_command},
    {"probe", "Say what a server offers, what works from here, and how fast", probe_command},
    {"top", "Show what a server does, live", top_command},
    {"list", "List the Tesseracts that can be named", list_command},
    {"new", "Write the skeleton of a new Tesseract", new_command},
    {"build", "Build a Tesseract from its C++ file", build_command},
    {"gpu", "Say whether arrays can stay on the GPUs of this machine, and if not, why", gpu_command},
});

constexpr std::string_view kExamples = R"(
Examples:
  tessera serve vectoradd --port 8000
  tessera run vectoradd apply '{"inputs": {"a": [1, 2], "b": [3, 4]}}'
  tessera new heat && tessera build heat/heat.cpp && tessera serve ./heat

Each command has its own --help.
)";

void print_help(std::ostream& out) {
  out << "Serves compute functions (Tesseracts) over HTTP, and runs or calls them from the command line.\n\n"
         "Usage: tessera COMMAND [OPTIONS] …\n\nCommands:\n";
  const std::size_t width =
      std::ranges::max(kCommands, {}, [](const Command& one) { return one.name.size(); }).name.size();
  for (const Command& command : kCommands) {
    out << "  " << command.name << std::string(width + 3 - command.name.size(), ' ') << command.summary << '\n';
  }
  out << "\nOptions:\n  -h, --help     Print this help\n  --version      Print the version\n" << kExamples;
}

// First touch of fresh pages costs more than anything done to a text of some MiB: keep freed memory.
void keep_freed_memory() {
  constexpr int kLargestHeapBlockBytes = 1 << 30;
  // NOLINTBEGIN(concurrency-mt-unsafe): there is one thread yet
  ::mallopt(M_MMAP_THRESHOLD, kLargestHeapBlockBytes);
  ::mallopt(M_TRIM_THRESHOLD, INT_MAX);
  // NOLINTEND(concurrency-mt-unsafe)
}

ExitCode unknown_command(const std::string& word) {
  std::vector<std::string> names;
  names.reserve(kCommands.size());
  for (const Command& command : kCommands) {
    names.emplace_back(command.name);
  }
  std::cerr << "tessera: No such command '" << word << "'.";
  if (const auto closest = find_closest_word(word, names)) {
    std::cerr << " Did you mean '" << *closest << "'?";
  }
  std::cerr << "\nTry 'tessera --help' for help.\n";
  return ExitCode::kUsage;
}

// What was printed counts once it is written: to a full disk, it is not.
ExitCode with_output_written(ExitCode code) {
  std::cout.flush();
  if (std::cout.fail() && code == ExitCode::kSuccess) {
    std::cerr << "tessera: cannot write to standard output\n";
    return ExitCode::kFailure;
  }
  return code;
}

ExitCode run(const Command& command, Arguments arguments) {
  const std::string name = "tessera " + std::string(command.name);
  try {
    const ExitCode code = command.run(arguments);
    return command.prints_result ? with_output_written(code) : code;
  } catch (const CommandError& error) {
    std::cerr << name << ": " << error.what() << '\n';
    if (error.code() == ExitCode::kUsage) {
      std::cerr << "Try '" << name << " --help' for help.\n";
    }
    return error.code();
  } catch (const std::exception& error) {
    std::cerr << name << ": " << error.what() << '\n';
    return ExitCode::kFailure;
  }
}

ExitCode run_program(Arguments words) {
  if (words.empty()) {
    print_help(std::cerr);
    return ExitCode::kUsage;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_help(std::cout);
    return with_output_written(ExitCode::kSuccess);
  }
  if (words[0] == "--version") {
    std::cout << "tessera " << TESSERA_VERSION << '\n';
    return with_output_written(ExitCode::kSuccess);
  }
  const auto* command = std::ranges::find(kCommands, words[0], &Command::name);
  return command != kCommands.end() ? run(*command, words.subspan(1)) : unknown_command(words[0]);
}

}  // namespace
}  // namespace tessera

int main(int argc, char** argv) {
  tessera::open_standard_descriptors();
  tessera::keep_freed_memory();
  try {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    return static_cast<int>(tessera::run_program(words));
  } catch (...) {
    // Not even an error could be printed.
    return static_cast<int>(tessera::ExitCode::kFailure);
  }
}
