// The problems of whole bodies (PROTOCOL.md section 7.2).
#pragma once

#include <string_view>

#include "tessera/array/json_scanner.h"
#include "tessera/tesseract/problem.h"

namespace tessera {

/// A body that is no JSON. Requires: the fault is one of syntax.
[[nodiscard]] Problem problem_of_syntax(const JsonFault& fault);
/// A body that is JSON but no object: one that is null counts as missing. `body` is its text.
[[nodiscard]] Problem problem_of_no_object(JsonKind kind, std::string_view body);

}  // namespace tessera
