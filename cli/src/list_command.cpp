#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "command.h"
#include "command_line.h"
#include "module_probe.h"
#include "tessera/tesseract/module.h"

namespace tessera {
namespace {

// Of a module that means well; others are not waited for.
constexpr std::chrono::seconds kLoadTime{5};

// One sentence: what the author says of it, or of its apply, or why it does not load.
std::string summary_of(const std::filesystem::path& path) {
  const Result<ModuleSummary> summary = probe_module(path, kLoadTime);
  return summary ? summary->description : "(" + summary.error().message() + ")";
}

}  // namespace

ExitCode list_command(Arguments arguments) {
  CLI::App app("Lists the Tesseracts that `serve` and `run` find by name.", "tessera list");
  app.footer(
      "Searched are the folders of $TESSERA_PATH, then ../lib/tessera beside this program.\n\n"
      "Examples:\n  tessera list\n  TESSERA_PATH=solvers tessera list");
  if (!read_command_line(app, arguments)) {
    return ExitCode::kSuccess;
  }
  const std::vector<std::filesystem::path> modules = list_modules();
  if (modules.empty()) {
    std::cerr << "no Tesseracts in";
    for (const std::filesystem::path& folder : module_folders()) {
      std::cerr << ' ' << folder.string();
    }
    std::cerr << '\n';
  }
  std::size_t width = 0;
  for (const std::filesystem::path& path : modules) {
    width = std::max(width, path.stem().string().size());
  }
  for (const std::filesystem::path& path : modules) {
    std::string name = path.stem().string();
    name.resize(width, ' ');
    std::cout << name << "  " << path.string() << "  " << summary_of(path) << '\n';
  }
  return ExitCode::kSuccess;
}

}  // namespace tessera
