// Checks values that are neither arrays nor containers, as pydantic's lax mode does (PROTOCOL.md section 6.3).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/array/value.h"
#include "tessera/tesseract/problem.h"
#include "tessera/tesseract/type.h"

namespace tessera {

/// Makes `value` what the type declares, or says why it cannot be; the problem has no place and no input yet. A value
/// that is null, a list, an object or an array fits no such type. A whole number beyond 64 bits comes as its double,
/// with `is_huge`. Requires: the type is kInteger, kNumber, kBoolean, kText, kChoice or kEnumeration.
[[nodiscard]] std::optional<Problem> check_scalar(const Type& type, Value& value, bool is_huge = false);

/// The choices as pydantic lists them: `'a', 'b' or 3`.
[[nodiscard]] std::string listed(const std::vector<Value>& choices);

/// A problem of a kind, without place and input.
[[nodiscard]] inline Problem problem_of(Problem::Kind kind) {
  Problem problem;
  problem.kind = kind;
  return problem;
}
/// A problem about a length: `noun` is "List", "Set", "Dictionary", or empty for texts.
[[nodiscard]] Problem length_problem(Problem::Kind kind, std::size_t bound, std::string noun, std::size_t count);
/// Checks a length against the bounds of a type; `noun` as above.
[[nodiscard]] std::optional<Problem> check_length(const Type& type, std::size_t length, const char* noun);

}  // namespace tessera
