// Tesseracts as the command line names them.
#pragma once

#include <memory>
#include <string>

#include "tessera/tesseract/definition.h"

namespace tessera {

/// Finds and loads the module of a name or path. Throws CommandError (kFailure).
[[nodiscard]] std::shared_ptr<const TesseractDefinition> load_tesseract(const std::string& name_or_path);

}  // namespace tessera
