// Checks what a gradient endpoint returned (PROTOCOL.md section 4.3).
#pragma once

#include <optional>

#include "conform.h"
#include "tessera/tesseract/call.h"

namespace tessera {

/// Casts and stretches the arrays of a result to what the schemas say, in place. Its keys must be the paths that were
/// asked for. `exact` arrays must be what is declared already (for the expectations of /test).
[[nodiscard]] std::optional<Misfit> conform_gradient(Object& result, const TesseractDefinition& definition,
                                                     const Call& call, bool exact = false);

}  // namespace tessera
