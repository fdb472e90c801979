#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "command.h"
#include "command_line.h"
#include "installation.h"
#include "module_probe.h"
#include "shell_words.h"
#include "tessera/daemon/config.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kLoadTime{60};

constexpr const char* kBuildFooter =
    R"(The compiler is $CXX, else the one that tessera was built with, else c++; it must be of the same
kind and version as that one. Flags of $CXXFLAGS and $LDFLAGS (quoted as in a shell), and all words after --,
are handed to it. A module that is there already is replaced once the new one loads.

Examples:
  tessera build heat/heat.cpp
  tessera build heat.cpp mesh.cpp -o modules/heat.so -- -O3 -march=native -lfftw3)";

std::vector<std::string> words_of_variable(const char* name) {
  const std::string text = get_environment_variable(name).value_or("");
  std::optional<std::vector<std::string>> words = split_shell_words(text);
  if (!words) {
    throw CommandError(ExitCode::kFailure,
                       std::string("Invalid value for ") + name + ": a quote is not closed in " + text);
  }
  return *std::move(words);
}

std::vector<std::string> compiler() {
  if (std::vector<std::string> chosen = words_of_variable("CXX"); !chosen.empty()) {
    return chosen;
  }
  std::error_code error;
  return {fs::exists(TESSERA_COMPILER, error) ? TESSERA_COMPILER : "c++"};
}

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::vector<std::string> compiler_call(const std::vector<std::string>& sources, const fs::path& output,
                                       const std::vector<std::string>& more) {
  const std::string libraries = library_folder().string();
  std::vector<std::string> words = compiler();
  append(words, {"-std=c++20", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-I" + header_folder().string()});
  append(words, words_of_variable("CXXFLAGS"));
  append(words, sources);
  append(words, {"-o", output.string()});
  append(words, words_of_variable("LDFLAGS"));
  append(words, more);
  append(words, {"-L" + libraries, "-ltessera", "-Wl,-rpath," + libraries});
  return words;
}

// Runs a program and returns its exit code. Throws CommandError if it cannot be started.
int run_program(std::vector<std::string>& words) {
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) {
    arguments.push_back(word.data());
  }
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (const int error = ::posix_spawnp(&child, arguments[0], nullptr, nullptr, arguments.data(), environ); error != 0) {
    throw CommandError(ExitCode::kFailure,
                       "cannot start the compiler " + words[0] + ": " + std::generic_category().message(error));
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

bool is_source(const fs::path& path) {
  constexpr auto kExtensions = std::to_array<std::string_view>(
      {".cpp", ".cc", ".cxx", ".c++", ".cp", ".C", ".CPP", ".c", ".s", ".S", ".o", ".a", ".cu"});
  return std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

// Says what the compiler and the linker would say of it in words of theirs. Throws CommandError (kUsage).
void check_source(const std::string& word) {
  const fs::path path = word;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    const fs::path inside = path / (fs::absolute(path, error).lexically_normal().filename().string() + ".cpp");
    throw CommandError(ExitCode::kUsage, word + " is a folder" +
                                             (fs::exists(inside, error) ? "; did you mean " + inside.string() + "?"
                                                                        : ", and no C++ source"));
  }
  if (!fs::exists(path, error)) {
    const fs::path source = fs::path(path).replace_extension(".cpp");
    throw CommandError(
        ExitCode::kUsage,
        "there is no file " + word + (fs::exists(source, error) ? "; did you mean " + source.string() + "?" : ""));
  }
  if (!is_source(path)) {
    const fs::path source = fs::path(path).replace_extension(".cpp");
    throw CommandError(ExitCode::kUsage,
                       word + " is no C++ source by its name" +
                           (fs::exists(source, error) ? "; did you mean " + source.string() + "?" : ""));
  }
}

// Throws CommandError (kUsage).
void check_output(const fs::path& output, const std::vector<std::string>& sources) {
  std::error_code error;
  if (fs::is_directory(output, error)) {
    throw CommandError(ExitCode::kUsage, output.string() + " is a folder; the module needs the name of a file");
  }
  for (const std::string& source : sources) {
    if (fs::equivalent(source, output, error)) {
      throw CommandError(ExitCode::kUsage, output.string() + " is a source, and would be replaced by the module");
    }
  }
}

// The module on its way: beside its place, and gone if it does not get there.
class Draft {
 public:
  explicit Draft(const fs::path& place)
      : place_(place),
        path_(place.parent_path() / ("." + place.filename().string() + "." + std::to_string(::getpid()))) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;
  ~Draft() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

  // Puts the place's name where a text has the draft's.
  [[nodiscard]] std::string in_words_of_place(std::string text) const {
    const std::string draft = path_.string();
    for (std::size_t at = text.find(draft); at != std::string::npos; at = text.find(draft, at)) {
      text.replace(at, draft.size(), place_.string());
      at += place_.string().size();
    }
    return text;
  }

  void move_to_place() {
    std::error_code error;
    fs::rename(path_, place_, error);
    if (error) {
      throw CommandError(ExitCode::kFailure, "cannot write " + place_.string() + ": " + error.message());
    }
  }

 private:
  fs::path place_;
  fs::path path_;
};

// Where a module of another compiler comes from.
std::string hint_of_compiler(const Error& refusal) {
  const std::optional<std::string> chosen = get_environment_variable("CXX");
  const bool is_other_compiler = refusal.message().find(" with the compiler of this tessera") != std::string::npos;
  return chosen && is_other_compiler
             ? "\n$CXX is '" + *chosen + "'; unset it, or set it to what tessera was built with: " TESSERA_COMPILER
             : "";
}

}  // namespace

ExitCode build_command(Arguments arguments) {
  CLI::App app("Builds the module of a Tesseract from its C++ file; no CMake needed.", "tessera build");
  std::vector<std::string> words;
  std::string output_word;
  bool is_verbose = false;
  app.footer(kBuildFooter);
  app.add_option("FILE.cpp", words, "The sources")->required();
  app.add_option("-o,--output", output_word, "The module to write (default: beside the first source, as NAME.so)")
      ->type_name("FILE.so");
  app.add_flag("-v,--verbose", is_verbose, "Print the call of the compiler");
  // CLI11 has no way to say which words stood behind --.
  const auto separator = std::ranges::find(arguments, "--");
  const std::vector<std::string> more(separator == arguments.end() ? separator : separator + 1, arguments.end());
  if (!read_command_line(app, Arguments(arguments.begin(), separator))) {
    return ExitCode::kSuccess;
  }

  const fs::path output = output_word.empty() ? fs::path(words[0]).replace_extension(".so") : fs::path(output_word);
  std::ranges::for_each(words, check_source);
  check_output(output, words);
  Draft draft(output);
  std::vector<std::string> call = compiler_call(words, draft.path(), more);
  if (is_verbose) {
    for (const std::string& word : call) {
      std::cerr << word << ' ';
    }
    std::cerr << '\n';
  }
  if (const int code = run_program(call); code != 0) {
    throw CommandError(ExitCode::kFailure, "the compiler failed with exit code " + std::to_string(code));
  }
  const Result<ModuleSummary> summary = probe_module(draft.path(), kLoadTime);
  if (!summary) {
    throw CommandError(ExitCode::kFailure,
                       draft.in_words_of_place(summary.error().message()) + hint_of_compiler(summary.error()));
  }
  draft.move_to_place();
  std::cout << "built " << output.string() << " (Tesseract '" << summary->name << "')\n";
  return ExitCode::kSuccess;
}

}  // namespace tessera
