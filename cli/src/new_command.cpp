#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "command.h"
#include "command_line.h"
#include "skeleton.h"
#include "tessera/base/file.h"
#include "tessera/tesseract/definition.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Asks the definition itself whether it could have that name. Its first character must do for a shell and a path, too.
void check_name(const std::string& name) {
  const bool is_letter_first =
      !name.empty() && (std::isalpha(static_cast<unsigned char>(name[0])) != 0 || name[0] == '_');
  if (!is_letter_first) {
    throw CommandError(ExitCode::kUsage, "the name '" + name + "' of a new Tesseract must begin with a letter");
  }
  const Status status =
      TesseractDefinition(name).apply([](const Object& inputs, Context& /*context*/) { return inputs; }).check();
  if (!status.has_value()) {
    throw CommandError(ExitCode::kUsage, status.error().message());
  }
}

void write(const fs::path& path, const std::string& content) {
  if (const Status status = write_file(path, content); !status.has_value()) {
    throw CommandError(ExitCode::kFailure, status.error().message());
  }
  std::cout << "wrote " << path.string() << '\n';
}

}  // namespace

ExitCode new_command(Arguments arguments) {
  CLI::App app("Writes a new Tesseract: a commented C++ file that builds and runs, inputs to try, a README.",
               "tessera new");
  std::string name;
  std::string parent = ".";
  app.footer("Examples:\n  tessera new heat\n  tessera new heat --dir solvers");
  app.add_option("NAME", name, "The name of the Tesseract, and of its folder")->required();
  app.add_option("--dir", parent, "Where to make the folder")->capture_default_str()->type_name("DIR");
  if (!read_command_line(app, arguments)) {
    return ExitCode::kSuccess;
  }
  check_name(name);
  const fs::path folder = (fs::path(parent) / name).lexically_normal();
  std::error_code error;
  if (!fs::create_directories(folder, error)) {
    throw CommandError(ExitCode::kFailure, error ? "cannot make " + folder.string() + ": " + error.message()
                                                 : folder.string() + " is there already");
  }
  const fs::path source = folder / (name + ".cpp");
  write(source, skeleton_source(name));
  write(folder / "example_inputs.json", skeleton_inputs());
  write(folder / "README.md", skeleton_readme(name));
  std::cout << "Next: tessera build " << source.string() << '\n';
  return ExitCode::kSuccess;
}

}  // namespace tessera
