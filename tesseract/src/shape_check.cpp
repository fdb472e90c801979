#include "shape_check.h"

#include <algorithm>
#include <string>
#include <utility>

#include "scalar_check.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

bool is_met(const Shape& shape, const Shape& declared) {
  if (shape.size() != declared.size()) {
    return false;
  }
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (declared[i] != kFreeAxis && declared[i] != shape[i]) {
      return false;
    }
  }
  return true;
}

/// Python's tuple of sizes as they are, negative ones too; not more of them than an array can have axes upstream.
std::string tuple_of(const Shape& shape) {
  if (shape.size() > kMaxRank) {
    return std::to_string(shape.size()) + " sizes";
  }
  return python_shape(shape);
}

}  // namespace

std::variant<Array, Problem> make_shape(DType dtype, const Shape& shape, const ArraySpec& spec) {
  // A negative or overflowing shape is refused where upstream passes it on: no array can have it.
  const bool is_negative = std::ranges::any_of(shape, [](std::int64_t size) { return size < 0; });
  const bool is_as_declared = !spec.shape || is_met(shape, *spec.shape);
  if (is_as_declared && !is_negative && !element_count(shape).has_value()) {
    Problem problem = problem_of(Problem::Kind::kValueError);
    problem.text = "Shape " + tuple_of(shape) + " has more elements, or axes, than an array can have";
    return problem;
  }
  if (is_negative || !is_as_declared) {
    Problem problem = problem_of(Problem::Kind::kValueError);
    problem.text = "Expected shape: " + (spec.shape ? python_tuple(*spec.shape) : "any without negative sizes") +
                   ". Found: " + tuple_of(shape) + ".";
    return problem;
  }
  const DType declared = spec.dtype.value_or(dtype);
  if (!is_castable(dtype, declared)) {
    Problem problem = problem_of(Problem::Kind::kArray);
    ArrayFault fault;
    fault.kind = ArrayFault::Kind::kDType;
    fault.actual_dtype = dtype;
    fault.expected_dtype = declared;
    problem.array = std::move(fault);
    return problem;
  }
  return Array::shape_only(declared, shape);
}

void drop_elements(Value& value) {
  switch (value.kind()) {
    case Value::Kind::kArray:
      value = Value(Array::shape_only(value.array().dtype(), value.array().shape()));
      break;
    case Value::Kind::kList:
      for (Value& item : value.list()) {
        drop_elements(item);
      }
      break;
    case Value::Kind::kObject: {
      Object& object = value.object();
      for (const Object::Member& member : object.members()) {
        drop_elements(*object.find(member.key));
      }
      break;
    }
    default:
      break;
  }
}

}  // namespace tessera
