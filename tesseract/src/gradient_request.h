// The members of a gradient request beside `inputs`: two sets of paths, and tangents or cotangents
// (PROTOCOL.md section 4.3). They are read as they come and checked when all of the body is there.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/array/json_scanner.h"
#include "tessera/tesseract/definition.h"
#include "tessera/tesseract/problem.h"
#include "value_reader.h"

namespace tessera {

/// How an endpoint calls the members.
struct GradientNames {
  std::string_view inputs;   ///< e.g. "jvp_inputs"
  std::string_view outputs;  ///< e.g. "jvp_outputs"
  std::string_view vector;   ///< e.g. "tangent_vector"; empty if it has none
  std::string_view noun;     ///< "tangent" or "cotangent"
  bool is_of_inputs = true;  ///< whether the vector has the paths of the inputs
};
/// The names of a gradient endpoint; nullptr for the others.
[[nodiscard]] const GradientNames* gradient_names(Endpoint endpoint);

/// A set of paths as it came.
struct RawPaths {
  struct Item {
    std::optional<std::string> path;  ///< nothing if it is no text
    std::string_view text;            ///< the JSON of the item
  };
  bool is_list = false;
  std::vector<Item> items;
  std::string_view text;  ///< the JSON of the whole
};
[[nodiscard]] RawPaths read_raw_paths(JsonScanner& scanner);

/// Checks each path against the templates and, if `inputs` is asked for, that it leads somewhere. Nothing, and a
/// problem at least, if the set is not right.
struct PathChecks {
  const std::vector<DifferentiableArray>& templates;
  bool must_exist = false;
  const Object* inputs = nullptr;  ///< null if they are missing or wrong
};
[[nodiscard]] std::optional<PathSet> check_paths(const RawPaths& raw, std::string_view name, const PathChecks& checks,
                                                 std::vector<Problem>& problems);

/// Tangents or cotangents as they came: arrays of any shape and dtype by key.
struct RawVector {
  Object arrays;
  std::vector<Problem> problems;
  std::string_view text;
};
[[nodiscard]] RawVector read_raw_vector(JsonScanner& scanner, ValueReader& values, std::string_view name,
                                        const std::vector<DifferentiableArray>& templates);

/// Checks tangents or cotangents against the paths (of jvp_inputs or vjp_outputs; null if these are wrong) and the
/// inputs (null if they are wrong), and makes them what is declared.
[[nodiscard]] Object check_vector(RawVector raw, const GradientNames& names,
                                  const std::vector<DifferentiableArray>& templates, const PathSet* paths,
                                  const Object* inputs, std::vector<Problem>& problems);

/// The template that a path belongs to; nullptr if there is none.
[[nodiscard]] const DifferentiableArray* find_template(const std::vector<DifferentiableArray>& templates,
                                                       std::string_view path);

/// Python's set of texts, `{'x', 's'}` or `set()`, for people.
[[nodiscard]] std::string python_set(const PathSet& paths);

}  // namespace tessera
