// Numbers in Python's JSON: JSON's own, and NaN, Infinity, -Infinity.
#pragma once

#include <string_view>

#include "tessera/array/json_scanner.h"

namespace tessera {

/// Reads the longest number that begins at `at`; returns its end, or nullptr if none begins there.
[[nodiscard]] const char* parse_number_text(const char* at, const char* end, JsonNumber& number);

/// Reads a decimal number, all of it. Too large gives infinity, too small zero. Requires: an optional `-`, digits with
/// or without a point, an optional exponent, and nothing else.
[[nodiscard]] double parse_decimal(std::string_view text);

}  // namespace tessera
