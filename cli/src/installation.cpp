#include "installation.h"

#include <array>
#include <string>
#include <system_error>

#include "command.h"
#include "tessera/base/file.h"

namespace tessera {
namespace {

namespace fs = std::filesystem;

fs::path beside_program(std::string_view relative) {
  const Result<fs::path> program = program_path();
  if (!program) {
    throw CommandError(ExitCode::kFailure, program.error().message());
  }
  return (program->parent_path() / relative).lexically_normal();
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(path, error);
}

}  // namespace

fs::path header_folder() {
  fs::path folder = beside_program("../include");
  if (!is_there(folder / "tessera/tesseract/tesseract.h")) {
    throw CommandError(ExitCode::kFailure, "the headers of tessera are not in " + folder.string());
  }
  return folder;
}

fs::path library_folder() {
  std::string searched;
  for (const std::string_view relative : {"../" TESSERA_LIBRARY_FOLDER, "../lib"}) {
    fs::path folder = beside_program(relative);
    if (is_there(folder / "libtessera.so")) {
      return folder;
    }
    searched += (searched.empty() ? "" : " or ") + folder.string();
  }
  throw CommandError(ExitCode::kFailure, "libtessera.so is not in " + searched);
}

}  // namespace tessera
