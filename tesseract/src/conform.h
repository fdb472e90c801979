// Checks values that C++ code made (defaults of a schema, what endpoints return) and makes them what is declared.
#pragma once

#include <optional>
#include <string>

#include "shape_check.h"
#include "tessera/array/value.h"
#include "tessera/tesseract/schema.h"

namespace tessera {

/// Why a value is not what a type declares: the path from the value that was checked, and a sentence.
struct Misfit {
  std::string path;
  std::string reason;

  /// "'points.[0].mass': Input should be greater than 0"
  [[nodiscard]] std::string text() const;
};

/// Makes `value` what `type` declares, in place: scalars and arrays cast, keys of objects in the order of the schema.
/// Keys that are not there stay away; a required one is a misfit. After a misfit the value is not to be used.
[[nodiscard]] std::optional<Misfit> conform(Value& value, const Type& type, ArrayForm form);
/// The same for the members of a schema; its rules are checked, too.
[[nodiscard]] std::optional<Misfit> conform(Object& object, const Schema& schema, ArrayForm form);

/// Casts and stretches an array, or a number or lists in its place, to what `spec` declares.
[[nodiscard]] std::optional<Misfit> conform_array(Value& value, const ArraySpec& spec, ArrayForm form);

/// What the rules of a schema say about a complete object; a rule that throws says what it throws.
[[nodiscard]] std::optional<std::string> broken_rule(const Object& object, const Schema& schema);

}  // namespace tessera
