#include <optional>
#include <utility>

#include "conform.h"
#include "dotted_name.h"
#include "gradient_request.h"
#include "gradient_result.h"
#include "pattern.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/python_text.h"
#include "tessera/base/utf8.h"
#include "tessera/tesseract/test_spec.h"
#include "value_compare.h"
#include "value_reader.h"

namespace tessera {
namespace {

using Status = TestOutcome::Status;

// What a request that its schema refuses raises upstream.
constexpr std::string_view kInvalidInputs = "ValidationError";

std::string indented(std::string_view text) {
  std::string lines = "  ";
  for (const char c : text) {
    lines += c;
    lines += c == '\n' ? "  " : "";
  }
  return lines;
}

std::string joined(const std::vector<std::string>& paragraphs) {
  std::string text;
  for (const std::string& paragraph : paragraphs) {
    text += "\n\n" + paragraph;
  }
  return text;
}

std::string available_endpoints(const TesseractDefinition& definition) {
  std::string names = "[";
  for (const Endpoint endpoint : {Endpoint::kApply, Endpoint::kJacobian, Endpoint::kJacobianVectorProduct,
                                  Endpoint::kVectorJacobianProduct, Endpoint::kAbstractEval}) {
    if (endpoint == Endpoint::kAbstractEval) {
      names += "'health', ";
    }
    if (definition.has(endpoint)) {
      names += "'" + std::string(name_of(endpoint)) + "', ";
    }
  }
  return names + "'test']";
}

/// One test, from its specification to its outcome.
class TestRun {
 public:
  TestRun(const TesseractDefinition& definition, const TestSpec& spec, const ArrayReader& arrays)
      : definition_(definition), spec_(spec), arrays_(arrays) {}

  [[nodiscard]] TestOutcome run(Endpoint endpoint, Context& context) const {
    auto read = read_call(definition_, endpoint, spec_.payload, arrays_);
    if (const auto* fault = std::get_if<JsonFault>(&read)) {
      return failed("the payload cannot be read: " + fault->text);
    }
    if (const auto* problems = std::get_if<std::vector<Problem>>(&read)) {
      return outcome_of_problems(*problems);
    }
    const Call call = std::get<Call>(std::move(read));
    std::optional<Object> expected;
    if (spec_.expected_outputs) {
      std::string misfit;
      expected = read_expected(call, *spec_.expected_outputs, misfit);
      if (!expected) {
        return failed(
            "expected_outputs does not conform to OutputSchema (perhaps the OutputSchema has recently changed?):\n" +
            indented(misfit));
      }
    }
    auto result = run_call(definition_, call, context, true);
    if (const auto* failure = std::get_if<EndpointFailure>(&result)) {
      return outcome_of_failure(*failure);
    }
    if (!expected) {
      return failed("Expected " + expected_name() + ", but no exception was raised");
    }
    return outcome_of_outputs(std::get<Object>(std::move(result)), *expected, is_gradient(call));
  }

  [[nodiscard]] TestOutcome failed(std::string message) const {
    return {Status::kFailed, std::move(message), spec_.endpoint};
  }

 private:
  [[nodiscard]] static bool is_gradient(const Call& call) { return gradient_names(call.endpoint) != nullptr; }
  [[nodiscard]] std::string expected_name() const {
    return std::string(last_part(spec_.expected_exception.value_or("")));
  }

  /// Whether an exception is the expected one; then the text must match the pattern, if there is one.
  [[nodiscard]] std::optional<TestOutcome> outcome_of_expected(std::string_view kind, const std::string& text) const {
    // pydantic's ValidationError is a ValueError.
    const bool is_expected =
        spec_.expected_exception && (is_kind_of(kind, *spec_.expected_exception) ||
                                     (kind == kInvalidInputs && is_kind_of("ValueError", *spec_.expected_exception)));
    if (!is_expected) {
      return std::nullopt;
    }
    if (spec_.exception_pattern && !spec_.exception_pattern->empty()) {
      const auto pattern = Pattern::compile(*spec_.exception_pattern);
      if (!pattern) {
        return failed(pattern.error().message());
      }
      if (!(*pattern)->is_found_in(text)) {
        return failed("Exception message does not match regex.\n  Expected pattern: " +
                      brief(*spec_.exception_pattern) + "\n  Actual message: " + text);
      }
    }
    return TestOutcome{Status::kPassed, "", spec_.endpoint};
  }

  [[nodiscard]] TestOutcome outcome_of_problems(const std::vector<Problem>& problems) const {
    const std::string text = problems_to_text(problems, "InputSchema");
    if (auto outcome = outcome_of_expected(kInvalidInputs, text)) {
      return *std::move(outcome);
    }
    return failed("inputs do not conform to InputSchema (perhaps the InputSchema has recently changed?):\n" +
                  indented(text));
  }

  [[nodiscard]] TestOutcome outcome_of_failure(const EndpointFailure& failure) const {
    if (auto outcome = outcome_of_expected(failure.kind, failure.text)) {
      return *std::move(outcome);
    }
    const std::string what = failure.kind + ": " + failure.text;
    if (!spec_.expected_exception) {
      return {Status::kError, what, spec_.endpoint};
    }
    return failed("Expected " + expected_name() + ", but got " + what);
  }

  [[nodiscard]] TestOutcome outcome_of_outputs(Object obtained, const Object& expected, bool is_map) const {
    const Schema* schema = is_map ? nullptr : &definition_.outputs();
    if (schema != nullptr) {
      obtained = with_defaults(std::move(obtained), *schema);
    }
    const Differences differences = compare(obtained, expected, schema, {spec_.atol, spec_.rtol});
    if (!differences.structure.empty()) {
      return failed("Structure mismatch." + joined(differences.structure));
    }
    if (!differences.values.empty()) {
      return failed("Values are not sufficiently close." + joined(differences.values));
    }
    return {Status::kPassed, "", spec_.endpoint};
  }

  /// Reads the expected outputs, complete; nothing, and why, if they are not what the endpoint can give.
  [[nodiscard]] std::optional<Object> read_expected(const Call& call, std::string_view json,
                                                    std::string& misfit) const {
    JsonScanner scanner(json);
    const auto mode =
        call.endpoint == Endpoint::kAbstractEval ? ValueReader::Arrays::kShapes : ValueReader::Arrays::kExact;
    ValueReader values(scanner, arrays_, mode);
    const Spot root{nullptr, std::string_view("body")};
    std::vector<Problem> problems;
    Object expected = is_gradient(call)
                          ? read_map(scanner, values, root, call.endpoint == Endpoint::kJacobian, problems)
                          : values.read_object(definition_.outputs(), root, problems);
    if (!problems.empty()) {
      misfit = problems_to_text(problems, "OutputSchema");
      return std::nullopt;
    }
    if (is_gradient(call)) {
      if (const auto wrong = conform_gradient(expected, definition_, call, true)) {
        misfit = wrong->text();
        return std::nullopt;
      }
    }
    return expected;
  }

  /// Reads path → array, or path → path → array.
  static Object read_map(JsonScanner& scanner, ValueReader& values, const Spot& spot, bool is_nested,
                         std::vector<Problem>& problems) {
    if (scanner.peek() != JsonKind::kObject) {
      values.refuse(Problem::Kind::kDictType, spot, problems);
      return {};
    }
    Object map;
    std::string_view key;
    scanner.enter();
    while (scanner.next_member(key)) {
      std::string path(key);
      const Spot member{&spot, std::string_view(path)};
      Value value = is_nested ? Value(read_map(scanner, values, member, false, problems))
                              : values.read_array(ArraySpec{}, member, problems);
      map.set(std::move(path), std::move(value));
    }
    return map;
  }

  const TesseractDefinition& definition_;
  const TestSpec& spec_;
  const ArrayReader& arrays_;
};

std::string_view word_of(Status status) {
  switch (status) {
    case Status::kPassed:
      return "passed";
    case Status::kFailed:
      return "failed";
    case Status::kError:
      break;
  }
  return "error";
}

}  // namespace

std::string TestOutcome::to_json() const {
  std::string json = R"({"status":")" + std::string(word_of(status)) + R"(","message":)";
  append_json_text(json, message);
  json += ",\"endpoint\":";
  append_json_text(json, endpoint);
  return json + "}";
}

std::variant<TestOutcome, EndpointFailure> run_test(const TesseractDefinition& definition, const TestSpec& spec,
                                                    const ArrayReader& arrays, Context& context) {
  if (spec.endpoint == "health") {
    return EndpointFailure{"TypeError", "endpoint 'health' has no inputs and cannot be tested", std::nullopt, false};
  }
  const TestRun test(definition, spec, arrays);
  const auto endpoint = find_endpoint(spec.endpoint);
  if (!endpoint || !definition.has(*endpoint)) {
    return test.failed("Endpoint " + brief(spec.endpoint) + " not found in " + definition.name() +
                       "\n  Available endpoints: " + available_endpoints(definition));
  }
  try {
    return test.run(*endpoint, context);
  } catch (...) {
    return current_failure();
  }
}

}  // namespace tessera
