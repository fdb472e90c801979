#include "modules.h"

#include "command.h"
#include "tessera/tesseract/module.h"

namespace tessera {

std::shared_ptr<const TesseractDefinition> load_tesseract(const std::string& name_or_path) {
  const Result<std::filesystem::path> path = find_module(name_or_path);
  if (!path) {
    throw CommandError(ExitCode::kFailure, path.error().message());
  }
  Result<std::shared_ptr<const TesseractDefinition>> tesseract = load_module(*path);
  if (!tesseract) {
    throw CommandError(ExitCode::kFailure, tesseract.error().message());
  }
  return *std::move(tesseract);
}

}  // namespace tessera
