#include "modules.h"

#include <filesystem>
#include <system_error>

#include "command.h"
#include "tessera/daemon/crash_notice.h"
#include "tessera/tesseract/module.h"

namespace tessera {

std::shared_ptr<const TesseractDefinition> load_tesseract(const std::string& name_or_path) {
  const Result<std::filesystem::path> path = find_module(name_or_path);
  if (!path) {
    std::error_code error;
    const bool is_here = name_or_path.find('/') == std::string::npos && std::filesystem::exists(name_or_path, error);
    throw CommandError(ExitCode::kFailure,
                       path.error().message() + (is_here ? "\nDid you mean './" + name_or_path + "'?" : ""));
  }
  const CrashNote note("loading " + path->native());
  Result<std::shared_ptr<const TesseractDefinition>> tesseract = load_module(*path);
  if (!tesseract) {
    throw CommandError(ExitCode::kFailure, tesseract.error().message());
  }
  return *std::move(tesseract);
}

}  // namespace tessera
