// Paths of gradient requests: against the templates of the schema, and where they lead in inputs.
#include <map>
#include <string>

#include "input.h"
#include "pattern.h"
#include "targets.h"
#include "tessera/base/utf8.h"
#include "tessera/tesseract/path.h"
#include "tesseracts.h"

namespace tessera::fuzzing {
namespace {

Object make_inputs() {
  Object inputs;
  inputs.set("f64", Array::of<double>({1, 2}));
  inputs.set("arrays", List{Array::of<float>({1}), Array::of<float>({2})});
  Object fields;
  for (const char* const key : {"p", "", "a.b", "{", "}", "\\", "[0]", "{x}", "\xc3\xa9"}) {
    fields.set(key, Array::of<double>({1}));
  }
  inputs.set("fields", fields);
  Object point;
  point.set("label", "l");
  point.set("position", Array::of<double>({1, 2, 3}));
  inputs.set("points", List{Value(point)});
  return inputs;
}

void check_template(const DifferentiableArray& one, std::string_view path) {
  static std::map<std::string, std::shared_ptr<const Pattern>> patterns;
  const bool is_match = matches(one.path_template, path);
  if (!is_pattern(one.path_template)) {
    require(is_match == (path == one.path_template), "a path without containers is matched by itself alone");
    return;
  }
  std::shared_ptr<const Pattern>& pattern = patterns[one.path_template];
  if (!pattern) {
    pattern = Pattern::compile(pattern_of(one.path_template)).value();
  }
  require(is_match == pattern->is_found_in(path), "a path is matched as the document's pattern says");
}

}  // namespace

void fuzz_gradient_path(std::string_view path) {
  static const Object kInputs = make_inputs();
  // Paths come out of JSON, which has no other bytes.
  if (is_utf8(path)) {
    for (const auto& tesseract : tesseracts()) {
      for (const DifferentiableArray& one : tesseract->inputs().differentiable_arrays()) {
        check_template(one, path);
      }
    }
  }
  const auto steps = parse_path(path);
  const Value* const value = find_at(kInputs, path);
  require(steps.has_value() || value == nullptr, "what is no path leads nowhere");
  try {
    static_cast<void>(array_at(kInputs, path));
    require(value != nullptr && value->is_array(), "an array is found where there is one");
  } catch (const ValueError&) {
    require(value == nullptr || !value->is_array(), "an array is found wherever there is one");
  }

  if (!path.empty()) {
    const auto key = parse_path("d.{" + escape_key(path) + "}");
    require(key.has_value() && key->size() == 2, "any key stands in a path");
    require(std::get<KeyStep>((*key)[1]).key == path, "a key survives its escapes");
  }
}

}  // namespace tessera::fuzzing
