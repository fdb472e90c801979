// The OpenAPI document of a Tesseract (PROTOCOL.md section 9).
#pragma once

#include <string>

#include "tessera/daemon/config.h"
#include "tessera/tesseract/definition.h"

namespace tessera {

/// The document as compact JSON: the same value as the Python runtime gives for the same schemas.
/// `config` gives info, the test endpoint (debug) and the transports. Safe to call from any thread. Requires:
/// definition.check().
[[nodiscard]] std::string openapi_document(const TesseractDefinition& definition, const RuntimeConfig& config);

}  // namespace tessera
