// The test endpoint: runs another endpoint and compares what it gives with what was expected (PROTOCOL.md section 4.5).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/tesseract/call.h"

namespace tessera {

/// A test specification that passed every check. Texts of JSON borrow the body that it was read from. Numbers are close
/// if |obtained - expected| <= atol + rtol * |expected|; whole numbers must be equal. The members
/// skip_output_path_checks and cli_config are checked and not used.
struct TestSpec {
  std::string endpoint;                              ///< any name; run_test() says if there is no such endpoint
  std::string_view payload;                          ///< the JSON of an object
  std::optional<std::string_view> expected_outputs;  ///< the same; there unless expected_exception is
  std::optional<std::string> expected_exception;     ///< a class of Python, dotted or not
  std::optional<std::string> exception_pattern;
  double atol = 1e-8;
  double rtol = 1e-5;
};

/// What a test came to. A plain value.
struct TestOutcome {
  enum class Status { kPassed, kFailed, kError };
  Status status = Status::kPassed;
  std::string message;  ///< for people
  std::string endpoint;

  /// `{"status":"passed","message":"","endpoint":"apply"}`
  [[nodiscard]] std::string to_json() const;
};

/// Reads and checks a test specification. It may have problems (422; at most 1000), syntax faults among them, or
/// another fault of its text (400). What it returns borrows `body`. Safe to call from any thread.
[[nodiscard]] std::variant<TestSpec, std::vector<Problem>, JsonFault> read_test_spec(std::string_view body,
                                                                                     const ArrayReader& arrays,
                                                                                     JsonScanner::Options options = {});

/// Runs the endpoint that it names and compares. An endpoint "health" cannot be tested: EndpointFailure (500). Never
/// throws. May be called from several threads. The body that `spec` borrows, and `context`, outlive the call.
[[nodiscard]] std::variant<TestOutcome, EndpointFailure> run_test(const TesseractDefinition& definition,
                                                                  const TestSpec& spec, const ArrayReader& arrays,
                                                                  Context& context);

}  // namespace tessera
