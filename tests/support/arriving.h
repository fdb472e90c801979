// Texts that arrive as they do from a connection.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "tessera/array/arriving_text.h"

namespace tessera::testing {

/// A text that has come in pieces of so many characters, or less.
inline ArrivingText arrive(std::string_view text, std::size_t piece_bytes, ArrivingText::Limits limits = {}) {
  ArrivingText arriving(text.size(), limits);
  while (!text.empty()) {
    text.remove_prefix(arriving.put(std::as_bytes(std::span(text.substr(0, piece_bytes)))));
  }
  return arriving;
}

}  // namespace tessera::testing
