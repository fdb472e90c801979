// The test endpoint: runs another endpoint and compares what it gives with what was expected (PROTOCOL.md section 4.5).
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/tesseract/call.h"

namespace tessera {

/// What a test came to. A plain value.
struct TestOutcome {
  enum class Status { kPassed, kFailed, kError };
  Status status = Status::kPassed;
  std::string message;
  std::string endpoint;

  /// `{"status":"passed","message":"","endpoint":"apply"}`
  [[nodiscard]] std::string to_json() const;
};

/// Reads a test specification, runs its endpoint and compares. The specification itself may have problems (422) or be
/// no JSON (400). An endpoint "health" cannot be tested: EndpointFailure (500). Never throws.
[[nodiscard]] std::variant<TestOutcome, std::vector<Problem>, JsonFault, EndpointFailure> run_test(
    const TesseractDefinition& definition, std::string_view body, const ArrayReader& arrays, Context& context);

}  // namespace tessera
