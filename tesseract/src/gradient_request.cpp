#include "gradient_request.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "problem_text.h"
#include "problems_by_key.h"
#include "scalar_check.h"
#include "tessera/array/fit.h"
#include "tessera/base/python_text.h"
#include "tessera/base/utf8.h"
#include "tessera/tesseract/path.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

constexpr GradientNames kJacobian = {"jac_inputs", "jac_outputs", "", "", true};
constexpr GradientNames kJvp = {"jvp_inputs", "jvp_outputs", "tangent_vector", "tangent", true};
constexpr GradientNames kVjp = {"vjp_inputs", "vjp_outputs", "cotangent_vector", "cotangent", false};

const Spot& body_spot() {
  static const Spot kBody{nullptr, std::string_view("body")};
  return kBody;
}

Problem value_error(const Spot& spot, std::string_view input, std::string text) {
  Problem problem = problem_of(Kind::kValueError);
  problem.place = place_of(spot);
  problem.input = input;
  problem.text = std::move(text);
  return problem;
}

/// One problem for each template, since a path could have been any of them; `input` is filled in by the caller.
std::vector<Problem> no_alternative(const std::vector<DifferentiableArray>& templates, bool is_text, const Spot& spot) {
  std::vector<Problem> problems;
  for (const DifferentiableArray& one : templates) {
    Problem problem;
    std::string alternative;
    if (is_pattern(one.path_template)) {
      problem.kind = is_text ? Kind::kStringPatternMismatch : Kind::kStringType;
      problem.text = is_text ? pattern_of(one.path_template) : "";
      alternative = "constrained-str";
    } else {
      problem.kind = Kind::kLiteralError;
      problem.text = python_repr(one.path_template);
      alternative = "literal[" + problem.text + "]";
    }
    const Spot inner{&spot, std::string_view(alternative)};
    problem.place = place_of(templates.size() > 1 ? inner : spot);
    problems.push_back(std::move(problem));
  }
  return problems;
}

bool goes_through_containers(std::string_view path) {
  return path.find_first_of("[{") != std::string_view::npos;
}

std::string capitalised(std::string_view noun) {
  std::string word(noun);
  word.front() = static_cast<char>(word.front() - 'a' + 'A');
  return word;
}

bool is_same_set(const Object& arrays, const PathSet& paths) {
  return arrays.size() == paths.size() &&
         std::ranges::all_of(paths, [&arrays](const std::string& path) { return arrays.find(path) != nullptr; });
}

PathSet keys_of(const Object& arrays) {
  PathSet keys;
  for (const Object::Member& member : arrays.members()) {
    keys.push_back(member.key);
  }
  return keys;
}

/// What a tangent must be: the dtype of the field, the shape of the value that stands there. Null has that of a number.
std::optional<ArraySpec> tangent_spec(const DifferentiableArray& field, const Object& inputs, std::string_view path) {
  const Value* value = find_at(inputs, path);
  if (value == nullptr) {
    return std::nullopt;
  }
  return ArraySpec{field.spec.dtype, value->is_array() ? value->array().shape() : Shape{}};
}

}  // namespace

const GradientNames* gradient_names(Endpoint endpoint) {
  switch (endpoint) {
    case Endpoint::kJacobian:
      return &kJacobian;
    case Endpoint::kJacobianVectorProduct:
      return &kJvp;
    case Endpoint::kVectorJacobianProduct:
      return &kVjp;
    default:
      return nullptr;
  }
}

const DifferentiableArray* find_template(const std::vector<DifferentiableArray>& templates, std::string_view path) {
  const auto found = std::ranges::find_if(
      templates, [path](const DifferentiableArray& one) { return matches(one.path_template, path); });
  return found == templates.end() ? nullptr : &*found;
}

std::string python_set(const PathSet& paths) {
  constexpr std::size_t kMaxShown = 20;
  if (paths.empty()) {
    return "set()";
  }
  std::string text = "{";
  for (std::size_t i = 0; i < std::min(paths.size(), kMaxShown); ++i) {
    text += (i == 0 ? "" : ", ") + python_repr(brief(paths[i]));
  }
  return text + (paths.size() > kMaxShown ? ", …}" : "}");
}

RawPaths read_raw_paths(JsonScanner& scanner) {
  RawPaths raw;
  const std::size_t begin = scanner.offset();
  raw.is_list = scanner.peek() == JsonKind::kList;
  if (!raw.is_list) {
    raw.text = scanner.skip_value();
    return raw;
  }
  scanner.enter();
  while (scanner.next_item()) {
    RawPaths::Item item;
    const std::size_t item_begin = scanner.offset();
    if (scanner.peek() == JsonKind::kText) {
      item.path = scanner.read_text();
    } else {
      scanner.skip_value();
    }
    item.text = scanner.text_since(item_begin);
    raw.items.push_back(std::move(item));
  }
  raw.text = scanner.text_since(begin);
  return raw;
}

std::optional<PathSet> check_paths(const RawPaths& raw, std::string_view name, const PathChecks& checks,
                                   std::vector<Problem>& problems) {
  const Spot spot{&body_spot(), name};
  if (!raw.is_list || raw.items.empty()) {
    Problem problem = raw.is_list ? length_problem(Kind::kTooShort, 1, "Set", 0) : problem_of(Kind::kSetType);
    problem.place = place_of(spot);
    problem.input = raw.text;
    add_problem(problems, std::move(problem));
    return std::nullopt;
  }
  bool is_right = true;
  PathSet paths;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < raw.items.size() && problems.size() < kMaxProblems; ++i) {
    const RawPaths::Item& item = raw.items[i];
    const Spot item_spot{&spot, static_cast<std::int64_t>(i)};
    if (!item.path || find_template(checks.templates, *item.path) == nullptr) {
      is_right = false;
      for (Problem& problem : no_alternative(checks.templates, item.path.has_value(), item_spot)) {
        problem.input = item.text;
        add_problem(problems, std::move(problem));
      }
    } else if (checks.must_exist && goes_through_containers(*item.path) &&
               (checks.inputs == nullptr || find_at(*checks.inputs, *item.path) == nullptr)) {
      is_right = false;
      add_problem(problems,
                  value_error(item_spot, item.text,
                              "Could not find " + std::string(name) + " path " + brief(*item.path) + " in inputs."));
    } else if (seen.insert(*item.path).second) {
      paths.push_back(*item.path);
    }
  }
  return is_right ? std::optional(std::move(paths)) : std::nullopt;
}

RawVector read_raw_vector(JsonScanner& scanner, ValueReader& values, std::string_view name,
                          const std::vector<DifferentiableArray>& templates) {
  const Spot spot{&body_spot(), name};
  RawVector raw;
  if (scanner.peek() != JsonKind::kObject) {
    values.refuse(Kind::kDictType, spot, raw.problems);
    return raw;
  }
  const std::size_t begin = scanner.offset();
  ProblemsByKey found;
  std::string_view key;
  scanner.enter();
  while (scanner.next_member(key)) {
    std::string path(key);
    const Spot member{&spot, std::string_view(path)};
    const Spot key_spot{&member, std::string_view("[key]")};
    std::vector<Problem> own;
    if (find_template(templates, path) == nullptr) {
      own = no_alternative(templates, true, key_spot);
      for (Problem& problem : own) {
        problem.input_text = path;
        problem.input_is_text = true;
      }
    }
    Value array = values.read_array(ArraySpec{}, member, own);
    found.set(path, std::move(own));
    raw.arrays.set(std::move(path), std::move(array));
  }
  raw.text = scanner.text_since(begin);
  found.take_into(raw.problems);
  return raw;
}

Object check_vector(RawVector raw, const GradientNames& names, const std::vector<DifferentiableArray>& templates,
                    const PathSet* paths, const Object* inputs, std::vector<Problem>& problems) {
  if (!raw.problems.empty()) {
    add_problems(problems, std::move(raw.problems));
    return {};
  }
  const Spot spot{&body_spot(), names.vector};
  const std::string noun(names.noun);
  const std::string_view of = names.is_of_inputs ? names.inputs : names.outputs;
  const auto refuse = [&](std::string text) {
    add_problem(problems, value_error(spot, raw.text, std::move(text)));
    return Object();
  };
  if (paths == nullptr) {
    return refuse("Unable to validate " + noun + " vector as " + std::string(of) + " either missing or invalid");
  }
  if (!is_same_set(raw.arrays, *paths)) {
    return refuse("Expected " + noun + " vector with keys conforming to " + std::string(of) + ": " +
                  python_set(*paths) + ", got " + python_set(keys_of(raw.arrays)) + ".");
  }
  if (names.is_of_inputs && inputs == nullptr) {
    return refuse("Unable to validate " + noun + " vector as inputs either missing or invalid");
  }
  Object vector;
  for (const Object::Member& member : raw.arrays.members()) {
    const DifferentiableArray& field = *find_template(templates, member.key);
    const auto spec = names.is_of_inputs ? tangent_spec(field, *inputs, member.key) : std::optional(field.spec);
    if (!spec) {
      return refuse("Could not find " + std::string(names.vector) + " path " + brief(member.key) + " in inputs.");
    }
    auto fitted = fit(member.value.array(), *spec);
    if (auto* fault = std::get_if<ArrayFault>(&fitted)) {
      Problem problem = problem_of(Kind::kArray);
      problem.array = std::move(*fault);
      return refuse(capitalised(noun) + " vector '" + brief(member.key) + "': " + message_of(problem));
    }
    vector.set(member.key, Value(std::get<Array>(std::move(fitted))));
  }
  return vector;
}

}  // namespace tessera
