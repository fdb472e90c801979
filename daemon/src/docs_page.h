// The page of GET /docs: what a Tesseract takes and gives, for people. Needs no network.
#pragma once

#include <string>

#include "tessera/daemon/config.h"
#include "tessera/tesseract/definition.h"

namespace tessera {

/// The page as HTML. Made once, at start.
[[nodiscard]] std::string docs_page(const TesseractDefinition& definition, const RuntimeConfig& config);

}  // namespace tessera
