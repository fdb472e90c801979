// What all commands do with CLI11: read the words, print the help, name what is wrong.
#pragma once

#include "command.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own
class App;
}

namespace tessera {

/// Fills what the options of `app` point to. Returns false after printing the help, if that was asked for. Throws
/// CommandError (kUsage).
[[nodiscard]] bool read_command_line(CLI::App& app, Arguments arguments);

}  // namespace tessera
