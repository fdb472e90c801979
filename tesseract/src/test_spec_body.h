// The body of a request to /test (PROTOCOL.md section 4.5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/array_reader.h"
#include "tessera/array/json_scanner.h"
#include "tessera/tesseract/problem.h"

namespace tessera {

/// A test specification that passed every check. Texts of JSON borrow the body.
struct TestSpec {
  std::string endpoint;
  std::string_view payload;                          ///< the JSON of an object
  std::optional<std::string_view> expected_outputs;  ///< the same
  std::optional<std::string> expected_exception;
  std::optional<std::string> exception_pattern;
  double atol = 1e-8;
  double rtol = 1e-5;
};

/// Reads and checks it. Syntax faults are problems.
[[nodiscard]] std::variant<TestSpec, std::vector<Problem>, JsonFault> read_test_spec(std::string_view body,
                                                                                     const ArrayReader& arrays);

}  // namespace tessera
