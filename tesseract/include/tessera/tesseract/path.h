// Paths to differentiable arrays, as gradient requests name them: `a.b`, `layers.[0].weights`, `named.{key}`
// (PROTOCOL.md section 4.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/value.h"

namespace tessera {

/// A step into a model, by field name.
struct FieldStep {
  std::string name;
};
/// A step into a list, by position (from 0).
struct ItemStep {
  std::uint64_t position = 0;
};
/// A step into a dict, by key (without the escapes of the path).
struct KeyStep {
  std::string key;
};
using PathStep = std::variant<FieldStep, ItemStep, KeyStep>;

/// Reads a path; nothing if it is not one ("", "a..b", "l.[-1]", "d.{}"), or a position does not fit 64 bits. Safe to
/// call from any thread, like all below.
[[nodiscard]] std::optional<std::vector<PathStep>> parse_path(std::string_view path);
/// A dict key as it stands in a path: `{`, `}` and `\` behind a `\`.
[[nodiscard]] std::string escape_key(std::string_view key);
/// Whether a template (PROTOCOL.md section 9.1) holds a list or a dict on its way, so that it stands for many paths.
[[nodiscard]] bool is_pattern(std::string_view path_template);
/// The regular expression of such a template as the document shows it: `^layers\.\[\d+\]\.weights$`.
[[nodiscard]] std::string pattern_of(std::string_view path_template);
/// Whether a path is one of those that a template stands for.
[[nodiscard]] bool matches(std::string_view path_template, std::string_view path);

/// The value that a path leads to in inputs; nullptr if it leads nowhere. Valid until `inputs` is changed.
[[nodiscard]] const Value* find_at(const Object& inputs, std::string_view path);
/// The array that a path leads to, valid as long. Throws ValueError that names the path if there is none.
[[nodiscard]] const Array& array_at(const Object& inputs, std::string_view path);

}  // namespace tessera
