// Numbers in Python's JSON: JSON's own, and NaN, Infinity, -Infinity.
#pragma once

#include "tessera/array/json_scanner.h"

namespace tessera {

/// Reads the longest number that begins at `at`; returns its end, or nullptr if none begins there.
[[nodiscard]] const char* parse_number_text(const char* at, const char* end, JsonNumber& number);

/// Reads a decimal number, all of it (no sign but `-`, no white space). Too large gives infinity, too small zero.
/// Requires: [at, end) is JSON's form of a number.
[[nodiscard]] double parse_decimal(const char* at, const char* end);

}  // namespace tessera
