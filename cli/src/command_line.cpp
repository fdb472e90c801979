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
    // Not only main() asks: a server's modules print to standard output too, and that is not the command's.
    if (!(std::cout << app.help() << std::flush)) {
      throw CommandError(ExitCode::kFailure, "cannot write to standard output");
    }
    return false;
  } catch (const CLI::ParseError& error) {
    throw CommandError(ExitCode::kUsage, error.what());
  }
  return true;
}

}  // namespace tessera
