#include "gradient_result.h"

#include <algorithm>
#include <utility>

#include "gradient_request.h"

namespace tessera {
namespace {

using Templates = std::vector<DifferentiableArray>;

std::optional<Misfit> check_keys(const Object& result, const PathSet& paths) {
  const bool is_same = result.size() == paths.size() && std::ranges::all_of(paths, [&result](const std::string& path) {
                         return result.find(path) != nullptr;
                       });
  if (is_same) {
    return std::nullopt;
  }
  PathSet keys;
  for (const Object::Member& member : result.members()) {
    keys.push_back(member.key);
  }
  return Misfit{{}, "Expected keys " + python_set(paths) + " in output; got " + python_set(keys)};
}

/// The shape of a jacobian's block: that of the output, then that of the input. A part of any rank takes what the other
/// leaves of the block's axes.
ArraySpec block_spec(const ArraySpec& output, const ArraySpec& input, const Shape& actual) {
  if (!output.shape && !input.shape) {
    return {};
  }
  Shape shape;
  if (!output.shape) {
    const std::size_t rest = actual.size() - std::min(actual.size(), input.shape->size());
    shape.assign(rest, kFreeAxis);
  } else {
    shape = *output.shape;
  }
  if (!input.shape) {
    shape.resize(std::max(shape.size(), actual.size()), kFreeAxis);
  } else {
    shape.insert(shape.end(), input.shape->begin(), input.shape->end());
  }
  return {std::nullopt, std::move(shape)};
}

std::optional<Misfit> conform_one(Value& value, const ArraySpec& spec, bool exact) {
  const Value before = exact ? value : Value();
  if (auto misfit = conform_array(value, spec, ArrayForm::kValues)) {
    return misfit;
  }
  if (exact && (!before.is_array() || before.array().dtype() != value.array().dtype() ||
                before.array().shape() != value.array().shape())) {
    return Misfit{{}, "Array does not have the declared dtype and shape (no casting)"};
  }
  return std::nullopt;
}

std::optional<Misfit> conform_map(Object& result, const PathSet& paths, const Templates& templates, bool exact) {
  if (auto misfit = check_keys(result, paths)) {
    return misfit;
  }
  for (const std::string& path : paths) {
    const DifferentiableArray* field = find_template(templates, path);
    if (auto misfit = conform_one(*result.find(path), field->spec, exact)) {
      misfit->path = path;
      return misfit;
    }
  }
  return std::nullopt;
}

std::optional<Misfit> conform_jacobian(Object& result, const TesseractDefinition& definition, const Call& call,
                                       bool exact) {
  if (auto misfit = check_keys(result, call.output_paths)) {
    return misfit;
  }
  for (const std::string& output : call.output_paths) {
    Value& row = *result.find(output);
    if (row.kind() != Value::Kind::kObject) {
      return Misfit{output, "Expected an object of arrays by input path"};
    }
    if (auto misfit = check_keys(row.object(), call.input_paths)) {
      misfit->path = output;
      return misfit;
    }
    const DifferentiableArray* output_field = find_template(definition.outputs().differentiable_arrays(), output);
    for (const std::string& input : call.input_paths) {
      const DifferentiableArray* input_field = find_template(definition.inputs().differentiable_arrays(), input);
      Value& block = *row.object().find(input);
      const Shape actual = block.is_array() ? block.array().shape() : Shape{};
      if (auto misfit = conform_one(block, block_spec(output_field->spec, input_field->spec, actual), exact)) {
        misfit->path = output;
        misfit->path.append("][").append(input);
        return misfit;
      }
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Misfit> conform_gradient(Object& result, const TesseractDefinition& definition, const Call& call,
                                       bool exact) {
  switch (call.endpoint) {
    case Endpoint::kJacobian:
      return conform_jacobian(result, definition, call, exact);
    case Endpoint::kJacobianVectorProduct:
      return conform_map(result, call.output_paths, definition.outputs().differentiable_arrays(), exact);
    default:
      return conform_map(result, call.input_paths, definition.inputs().differentiable_arrays(), exact);
  }
}

}  // namespace tessera
