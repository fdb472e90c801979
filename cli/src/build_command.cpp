#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <filesystem>
#include <iostream>
#include <sstream>
#include <string>
#include <system_error>
#include <vector>

#include "command.h"
#include "command_line.h"
#include "installation.h"
#include "tessera/daemon/config.h"
#include "tessera/tesseract/module.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(The compiler is $CXX, else the one that tessera was built with, else c++; it must be of the same
kind and version as that one. Flags of $CXXFLAGS and $LDFLAGS, and all words after --, are handed to it.

Examples:
  tessera build heat/heat.cpp
  tessera build heat.cpp mesh.cpp -o modules/heat.so -- -O3 -march=native -lfftw3)";

std::vector<std::string> words_of_variable(const char* name) {
  std::istringstream text(get_environment_variable(name).value_or(""));
  std::vector<std::string> words;
  for (std::string word; text >> word;) {
    words.push_back(word);
  }
  return words;
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

}  // namespace

ExitCode build_command(Arguments arguments) {
  CLI::App app("Builds the module of a Tesseract from its C++ file; no CMake needed.", "tessera build");
  std::vector<std::string> words;
  std::string output_word;
  bool is_verbose = false;
  app.footer(kFooter);
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
  std::vector<std::string> call = compiler_call(words, output, more);
  if (is_verbose) {
    for (const std::string& word : call) {
      std::cerr << word << ' ';
    }
    std::cerr << '\n';
  }
  if (const int code = run_program(call); code != 0) {
    throw CommandError(ExitCode::kFailure, "the compiler failed with exit code " + std::to_string(code));
  }
  const auto tesseract = load_module(output);
  if (!tesseract) {
    throw CommandError(ExitCode::kFailure, tesseract.error().message());
  }
  std::cout << "built " << output.string() << " (Tesseract '" << (*tesseract)->name() << "')\n";
  return ExitCode::kSuccess;
}

}  // namespace tessera
