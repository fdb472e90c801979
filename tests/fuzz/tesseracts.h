// The Tesseracts that requests are read for: those of the examples and of the golden vectors, as modules.
#pragma once

#include <memory>
#include <span>

#include "tessera/tesseract/definition.h"

namespace tessera::fuzzing {

/// Loaded at the first call; `everything` is the first. The last is the mixer, which prints what it does: bodies are
/// read for it, and not run.
[[nodiscard]] std::span<const std::shared_ptr<const TesseractDefinition>> tesseracts();

/// About how many elements the arrays of inputs have together.
[[nodiscard]] std::uint64_t count_elements(const Object& inputs);

}  // namespace tessera::fuzzing
