// The page of GET /docs: what a Tesseract takes and gives, for people. Needs no network.
#pragma once

#include <string>
#include <string_view>

#include "tessera/daemon/config.h"
#include "tessera/tesseract/definition.h"

namespace tessera {

/// The page as HTML. Made once, at start, with an address of its own making in the example.
[[nodiscard]] std::string docs_page(const TesseractDefinition& definition, const RuntimeConfig& config);

/// The page with the address at which the Tesseract is reached, any text, in its example.
[[nodiscard]] std::string with_address(std::string page, std::string_view address);

}  // namespace tessera
