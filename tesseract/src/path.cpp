#include "tessera/tesseract/path.h"

#include <charconv>
#include <system_error>

#include "identifier.h"
#include "tessera/base/ascii.h"

namespace tessera {
namespace {

constexpr std::string_view kItem = "[]";
constexpr std::string_view kKey = "{}";
constexpr std::string_view kKeyPattern = R"(\{(?:[^{}\\]|\\.)+\})";
constexpr std::string_view kItemPattern = R"(\[\d+\])";

/// Splits at the dots outside of `{…}`; a backslash keeps the character behind it from meaning anything.
std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    const char c = path[i];
    if (c == '\\') {
      ++i;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      --depth;
    } else if (c == '.' && depth == 0) {
      parts.push_back(path.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  parts.push_back(path.substr(begin));
  return parts;
}

std::string unescape_key(std::string_view key) {
  std::string plain;
  plain.reserve(key.size());
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (key[i] == '\\' && i + 1 < key.size()) {
      ++i;
    }
    plain.push_back(key[i]);
  }
  return plain;
}

std::optional<PathStep> parse_step(std::string_view part) {
  const bool is_bracketed = part.size() > 2;
  if (is_bracketed && part.front() == '[' && part.back() == ']') {
    ItemStep step;
    const char* end = part.data() + part.size() - 1;
    const auto result = std::from_chars(part.data() + 1, end, step.position);
    if (result.ec != std::errc() || result.ptr != end) {
      return std::nullopt;
    }
    return step;
  }
  if (is_bracketed && part.front() == '{' && part.back() == '}') {
    return KeyStep{unescape_key(part.substr(1, part.size() - 2))};
  }
  if (is_identifier(part)) {
    return FieldStep{std::string(part)};
  }
  return std::nullopt;
}

/// Takes `{<key>}` off the front: one character or more, `{`, `}` and `\` only behind a `\`.
bool take_key(std::string_view& path) {
  if (path.empty() || path.front() != '{') {
    return false;
  }
  std::size_t i = 1;
  while (i < path.size() && path[i] != '}' && path[i] != '{') {
    i += path[i] == '\\' ? 2 : 1;
  }
  if (i == 1 || i >= path.size() || path[i] != '}') {
    return false;
  }
  path.remove_prefix(i + 1);
  return true;
}

/// Takes `[<digits>]` off the front.
bool take_item(std::string_view& path) {
  if (path.empty() || path.front() != '[') {
    return false;
  }
  std::size_t i = 1;
  while (i < path.size() && is_digit(path[i])) {
    ++i;
  }
  if (i == 1 || i >= path.size() || path[i] != ']') {
    return false;
  }
  path.remove_prefix(i + 1);
  return true;
}

bool take_name(std::string_view& path, std::string_view name) {
  if (!path.starts_with(name)) {
    return false;
  }
  path.remove_prefix(name.size());
  return true;
}

const Value* step_into(const Value& value, const PathStep& step) {
  if (const auto* item = std::get_if<ItemStep>(&step)) {
    const bool is_there = value.kind() == Value::Kind::kList && item->position < value.list().size();
    return is_there ? &value.list()[static_cast<std::size_t>(item->position)] : nullptr;
  }
  if (value.kind() != Value::Kind::kObject) {
    return nullptr;
  }
  const auto* field = std::get_if<FieldStep>(&step);
  return value.object().find(field != nullptr ? field->name : std::get<KeyStep>(step).key);
}

}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || is_digit(name.front())) {
    return false;
  }
  for (const char c : name) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    const bool is_beyond_ascii = static_cast<unsigned char>(c) >= 0x80;
    if (!is_letter && !is_digit(c) && !is_beyond_ascii) {
      return false;
    }
  }
  return true;
}

std::optional<std::vector<PathStep>> parse_path(std::string_view path) {
  std::vector<PathStep> steps;
  for (const std::string_view part : split(path)) {
    auto step = parse_step(part);
    if (!step) {
      return std::nullopt;
    }
    steps.push_back(*std::move(step));
  }
  return steps;
}

std::string escape_key(std::string_view key) {
  std::string escaped;
  escaped.reserve(key.size());
  for (const char c : key) {
    if (c == '{' || c == '}' || c == '\\') {
      escaped.push_back('\\');
    }
    escaped.push_back(c);
  }
  return escaped;
}

bool is_pattern(std::string_view path_template) {
  return path_template.find_first_of("[{") != std::string_view::npos;
}

std::string pattern_of(std::string_view path_template) {
  std::string pattern = "^";
  for (const std::string_view part : split(path_template)) {
    if (pattern.size() > 1) {
      pattern += R"(\.)";
    }
    pattern += part == kItem ? kItemPattern : part == kKey ? kKeyPattern : part;
  }
  return pattern + "$";
}

bool matches(std::string_view path_template, std::string_view path) {
  if (!is_pattern(path_template)) {
    return path_template == path;
  }
  bool is_first = true;
  for (const std::string_view part : split(path_template)) {
    if (!is_first && !take_name(path, ".")) {
      return false;
    }
    is_first = false;
    const bool is_taken = part == kItem ? take_item(path) : part == kKey ? take_key(path) : take_name(path, part);
    if (!is_taken) {
      return false;
    }
  }
  return path.empty();
}

const Value* find_at(const Object& inputs, std::string_view path) {
  const auto steps = parse_path(path);
  if (!steps) {
    return nullptr;
  }
  const auto* first = std::get_if<FieldStep>(&steps->front());
  const Value* value = first != nullptr ? inputs.find(first->name) : nullptr;
  for (std::size_t i = 1; i < steps->size() && value != nullptr; ++i) {
    value = step_into(*value, (*steps)[i]);
  }
  return value;
}

const Array& array_at(const Object& inputs, std::string_view path) {
  const Value* value = find_at(inputs, path);
  if (value == nullptr || !value->is_array()) {
    throw ValueError("there is no array at path '" + std::string(path) + "'");
  }
  return value->array();
}

}  // namespace tessera
