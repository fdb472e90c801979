#include "command_line.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <string>
#include <vector>

namespace tessera {

bool read_command_line(CLI::App& app, Arguments arguments) {
  // CLI11 takes the words from the back.
  std::vector<std::string> words(arguments.begin(), arguments.end());
  std::ranges::reverse(words);
  try {
    app.parse(words);
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    throw CommandError(ExitCode::kUsage, error.what());
  }
  return true;
}

}  // namespace tessera
