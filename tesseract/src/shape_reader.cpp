// Reads arrays as abstract_eval has them: `{"shape":[4],"dtype":"float64"}`, further keys ignored (PROTOCOL.md 4.4).

#include <optional>
#include <string>
#include <utility>

#include "scalar_check.h"
#include "shape_check.h"
#include "tessera/base/python_text.h"
#include "value_reader.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

/// The 14 dtypes as pydantic lists them.
const Type& dtype_choice() {
  static const Type kChoice = [] {
    std::vector<Value> names;
    for (const DType dtype : all_dtypes()) {
      names.emplace_back(name_of(dtype));
    }
    return choice(std::move(names));
  }();
  return kChoice;
}

}  // namespace

Shape ValueReader::read_sizes(const Spot& spot, std::vector<Problem>& problems) {
  if (scanner_.peek() != JsonKind::kList) {
    refuse(Kind::kTupleType, spot, problems);
    return {};
  }
  static const Type kSize = integer();
  Shape shape;
  scanner_.enter();
  while (scanner_.next_item()) {
    const Spot item{&spot, static_cast<std::int64_t>(shape.size())};
    const std::size_t begin = scanner_.offset();
    const std::size_t problems_before = problems.size();
    const Value size = read_scalar(kSize, item, problems);
    if (size.kind() != Value::Kind::kInt && problems.size() == problems_before && !scanner_.has_fault()) {
      Problem problem = problem_of(Kind::kValueError);
      problem.text = "A size above 9223372036854775807 is more than an array can have";
      problem.place = place_of(item);
      problem.input = scanner_.text_since(begin);
      add_problem(problems, std::move(problem));
    }
    shape.push_back(size.kind() == Value::Kind::kInt ? size.integer() : -1);
  }
  return shape;
}

Value ValueReader::read_shape(const ArraySpec& spec, const Spot& spot, std::vector<Problem>& problems) {
  if (scanner_.peek() != JsonKind::kObject) {
    refuse(Kind::kModelAttributesType, spot, problems);
    return {};
  }
  const Spot shape_spot{&spot, std::string_view("shape")};
  const Spot dtype_spot{&spot, std::string_view("dtype")};
  const std::size_t begin = scanner_.offset();
  std::optional<Shape> shape;
  std::optional<Value> dtype;
  std::vector<Problem> shape_problems;
  std::vector<Problem> dtype_problems;
  std::string_view key;
  scanner_.enter();
  while (scanner_.next_member(key)) {
    if (key == "shape") {
      shape_problems.clear();
      shape = read_sizes(shape_spot, shape_problems);
    } else if (key == "dtype") {
      dtype_problems.clear();
      dtype = read_scalar(dtype_choice(), dtype_spot, dtype_problems);
    } else {
      scanner_.skip_value();
    }
  }
  if (scanner_.has_fault()) {
    return {};
  }
  const std::string_view text = scanner_.text_since(begin);
  const auto missing = [text](const Spot& member) {
    Problem problem = problem_of(Kind::kMissing);
    problem.place = place_of(member);
    problem.input = text;
    return problem;
  };
  if (!shape) {
    shape_problems.push_back(missing(shape_spot));
  }
  if (!dtype) {
    dtype_problems.push_back(missing(dtype_spot));
  }
  const auto declared = dtype && dtype_problems.empty() ? find_dtype(dtype->text()) : std::nullopt;
  if (!shape || !declared || !shape_problems.empty()) {
    add_problems(problems, std::move(shape_problems));
    add_problems(problems, std::move(dtype_problems));
    return {};
  }
  auto made = make_shape(*declared, *shape, spec);
  if (auto* problem = std::get_if<Problem>(&made)) {
    problem->place = place_of(spot);
    problem->input = text;
    add_problem(problems, std::move(*problem));
    return {};
  }
  return {std::get<Array>(std::move(made))};
}

}  // namespace tessera
