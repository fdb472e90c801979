#include "tessera/tesseract/test_spec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "requests.h"

namespace tessera {
namespace {

using nlohmann::json;
using Status = TestOutcome::Status;

TesseractDefinition doubling() {
  const auto apply = [](const Object& inputs, Context&) -> Object {
    if (inputs["fail"].boolean()) {
      throw EndpointError("ZeroDivisionError", "cannot double");
    }
    Array y = inputs["x"].array();
    for (double& value : y.mutable_values<double>()) {
      value *= 2;
    }
    return {{"y", y}, {"share", 0.5}, {"names", Object{{"a", 1}}}, {"list", List{1, 2}}};
  };
  const Type vector = array(DType::kFloat64, {kFreeAxis}).differentiable();
  return TesseractDefinition("doubling")
      .inputs(Schema("InputSchema").field("x", vector).field("fail", boolean(), "", false))
      .outputs(Schema("OutputSchema")
                   .field("y", vector)
                   .field("share", number(), "", 0.5)
                   .field("names", dict_of(integer()), "", Object{{"a", 1}})
                   .field("list", list_of(integer()), "", List{1, 2})
                   .field("note", text().optional(), "", nullptr))
      .apply(apply)
      .jacobian([](const Object&, const PathSet&, const PathSet&, Context&) {
        return Object{{"y", Object{{"x", Array::zeros(DType::kFloat64, {1, 1})}}}};
      });
}

std::variant<TestOutcome, EndpointFailure> answered(std::string_view body) {
  const ArrayReader arrays(nullptr, {});
  SilentContext context;
  const auto spec = read_test_spec(body, arrays);
  if (const auto* read = std::get_if<TestSpec>(&spec)) {
    return run_test(doubling(), *read, arrays, context);
  }
  return EndpointFailure{"", "the specification is refused", std::nullopt, false};
}

TestOutcome outcome_of(std::string_view body) {
  const auto answer = answered(body);
  if (const auto* outcome = std::get_if<TestOutcome>(&answer)) {
    return *outcome;
  }
  ADD_FAILURE() << "no outcome of " << body;
  return {};
}

json items_of(std::string_view body) {
  const ArrayReader arrays(nullptr, {});
  const auto answer = read_test_spec(body, arrays);
  const auto* problems = std::get_if<std::vector<Problem>>(&answer);
  return problems == nullptr ? json() : json::parse(problems_to_json(*problems)).at("detail");
}

std::string array_text(std::string_view buffer, std::string_view shape) {
  return R"({"shape":)" + std::string(shape) + R"(,"dtype":"float64","data":{"buffer":)" + std::string(buffer) +
         R"(,"encoding":"json"}})";
}

/// A test of apply at x = [1, 2].
std::string test_of(const std::string& expectation, std::string_view inputs = R"({"x":[1,2]})") {
  return R"({"endpoint":"apply","payload":{"inputs":)" + std::string(inputs) + "}," + expectation + "}";
}

std::string expecting(const std::string& buffer, const std::string& more = "") {
  return R"("expected_outputs":{"y":)" + array_text(buffer, "[2]") + more + "}";
}

TEST(TestOutcomeTest, IsWrittenAsJson) {
  EXPECT_EQ((TestOutcome{Status::kFailed, "a\n\"b\"", "apply"}.to_json()),
            R"({"status":"failed","message":"a\n\"b\"","endpoint":"apply"})");
}

TEST(RunTestTest, PassesWhatIsAsExpected) {
  const TestOutcome outcome = outcome_of(test_of(expecting("[2,4]")));
  EXPECT_EQ(outcome.to_json(), R"({"status":"passed","message":"","endpoint":"apply"})");
}

TEST(RunTestTest, ComparesWithinTolerances) {
  EXPECT_EQ(outcome_of(test_of(expecting("[2.00001,4]"))).status, Status::kPassed);
  EXPECT_EQ(outcome_of(test_of(expecting("[2.0005,4]"))).status, Status::kFailed);
  EXPECT_EQ(outcome_of(test_of(expecting("[2.0005,4]") + R"(,"atol":1e-3,"rtol":0)")).status, Status::kPassed);
  EXPECT_EQ(outcome_of(test_of(expecting("[2,4]", R"(,"share":0.500001)"))).status, Status::kPassed);
  EXPECT_EQ(outcome_of(test_of(expecting("[2,4]", R"(,"share":0.6)"))).status, Status::kFailed);
}

TEST(RunTestTest, TakesNaNForNaNInArrays) {
  EXPECT_EQ(outcome_of(test_of(expecting("[null,4]"), R"({"x":[NaN,2]})")).status, Status::kPassed);
  EXPECT_EQ(outcome_of(test_of(expecting("[1,4]"), R"({"x":[NaN,2]})")).status, Status::kFailed);
}

TEST(RunTestTest, SaysWhatDiffers) {
  const TestOutcome values = outcome_of(test_of(expecting("[2,5]")));
  EXPECT_EQ(values.message.rfind("Values are not sufficiently close.", 0), 0U);
  EXPECT_NE(values.message.find("(1,)"), std::string::npos);
  const TestOutcome shape = outcome_of(test_of(R"("expected_outputs":{"y":)" + array_text("[1,2,3]", "[3]") + "}"));
  EXPECT_EQ(shape.message,
            "Structure mismatch.\n\nShape mismatch for array at y: \n  Expected: (3,)\n  Obtained: (2,)");
  EXPECT_NE(outcome_of(test_of(expecting("[2,4]", R"(,"names":{"b":1})"))).message.find("names"), std::string::npos);
  EXPECT_NE(outcome_of(test_of(expecting("[2,4]", R"(,"list":[1])"))).message.find("length"), std::string::npos);
  EXPECT_NE(outcome_of(test_of(expecting("[2,4]", R"(,"list":[1,3])"))).message.find("list.[1]"), std::string::npos);
  EXPECT_NE(outcome_of(test_of(expecting("[2,4]", R"(,"note":"x")"))).message.find("Type mismatch at note"),
            std::string::npos);
}

TEST(RunTestTest, ReadsExpectedOutputsWithoutCasting) {
  const TestOutcome outcome = outcome_of(test_of(R"("expected_outputs":{"y":[2,4]})"));
  EXPECT_EQ(outcome.status, Status::kFailed);
  EXPECT_EQ(outcome.message.rfind("expected_outputs does not conform to OutputSchema", 0), 0U);
}

TEST(RunTestTest, ComparesGradients) {
  const auto body = [](const std::string& shape, const std::string& buffer) {
    return R"({"endpoint":"jacobian","payload":{"inputs":{"x":[1]},"jac_inputs":["x"],"jac_outputs":["y"]},)"
           R"("expected_outputs":{"y":{"x":)" +
           array_text(buffer, shape) + "}}}";
  };
  EXPECT_EQ(outcome_of(body("[1,1]", "[[0]]")).status, Status::kPassed);
  EXPECT_EQ(outcome_of(body("[1,1]", "[[1]]")).status, Status::kFailed);
  EXPECT_EQ(outcome_of(body("[1]", "[0]")).status, Status::kFailed);
}

TEST(RunTestTest, ExpectsExceptionsByKindAndText) {
  const std::string fail = R"({"x":[1],"fail":true})";
  const auto status = [&fail](const std::string& expectation) { return outcome_of(test_of(expectation, fail)).status; };
  EXPECT_EQ(status(R"("expected_exception":"ZeroDivisionError")"), Status::kPassed);
  EXPECT_EQ(status(R"("expected_exception":"ArithmeticError")"), Status::kPassed);
  EXPECT_EQ(status(R"("expected_exception":"KeyError")"), Status::kFailed);
  EXPECT_EQ(status(R"("expected_exception":"Exception","expected_exception_regex":"not d.uble")"), Status::kPassed);
  EXPECT_EQ(status(R"("expected_exception":"Exception","expected_exception_regex":"^double")"), Status::kFailed);
  EXPECT_EQ(status(R"("expected_exception":"Exception","expected_exception_regex":"(")"), Status::kFailed);
}

TEST(RunTestTest, ExpectsRefusedInputs) {
  EXPECT_EQ(outcome_of(test_of(R"("expected_exception":"pydantic.ValidationError")", "{}")).status, Status::kPassed);
  EXPECT_EQ(outcome_of(test_of(R"("expected_exception":"ValueError")", "{}")).status, Status::kPassed);
  EXPECT_EQ(outcome_of(test_of(R"("expected_exception":"KeyError")", "{}")).status, Status::kFailed);
  EXPECT_EQ(outcome_of(test_of(expecting("[2,4]"), "{}")).message.rfind("inputs do not conform to InputSchema", 0), 0U);
}

TEST(RunTestTest, SaysThatNothingWasRaised) {
  EXPECT_EQ(outcome_of(test_of(R"("expected_exception":"KeyError")")).message,
            "Expected KeyError, but no exception was raised");
}

TEST(RunTestTest, SaysWhatWasRaisedUnexpectedly) {
  const TestOutcome outcome = outcome_of(test_of(expecting("[2,4]"), R"({"x":[1],"fail":true})"));
  EXPECT_EQ(outcome.status, Status::kError);
  EXPECT_EQ(outcome.message, "ZeroDivisionError: cannot double");
}

TEST(RunTestTest, FailsForEndpointsThatAreNotThere) {
  for (const char* name : {"nope", "vector_jacobian_product", "test"}) {
    const std::string body = R"({"endpoint":")" + std::string(name) + R"(","payload":{},"expected_outputs":{}})";
    EXPECT_EQ(outcome_of(body).status, Status::kFailed) << name;
    EXPECT_EQ(outcome_of(body).endpoint, name);
  }
}

TEST(RunTestTest, CannotTestHealth) {
  EXPECT_TRUE(
      std::holds_alternative<EndpointFailure>(answered(R"({"endpoint":"health","payload":{},"expected_outputs":{}})")));
}

TEST(TestSpecTest, IsCheckedMemberByMember) {
  json found = json::array();
  for (const json& item : items_of(R"({"payload":[1],"expected_outputs":5,"expected_exception":"Nope","atol":"x",)"
                                   R"("skip_output_path_checks":3,"cli_config":{"volume_mounts":[1],"q":1},"q":1})")) {
    json one = item.at("loc");
    one[0] = item.at("type");
    found.push_back(one);
  }
  EXPECT_EQ(found, json::parse(R"([["missing","endpoint"],
["dict_type","payload"],
["dict_type","expected_outputs"],
["value_error","expected_exception"],
["float_parsing","atol"],
["bool_parsing","skip_output_path_checks"],
["string_type","cli_config","volume_mounts",0]])"));
}

TEST(TestSpecTest, ExpectsExactlyOneThing) {
  EXPECT_EQ(items_of(R"({"endpoint":"apply","payload":{}})")[0].at("msg"),
            "Value error, Must specify either 'expected_outputs' or 'expected_exception'. Provide exactly one.");
  EXPECT_EQ(
      items_of(R"({"endpoint":"apply","payload":{},"expected_outputs":{},"expected_exception":"KeyError"})")[0].at(
          "loc"),
      (json{"body"}));
}

TEST(TestSpecTest, IsJson) {
  EXPECT_EQ(items_of("")[0].at("type"), "missing");
  EXPECT_EQ(items_of("[]")[0].at("type"), "model_attributes_type");
  EXPECT_EQ(items_of(R"({"endpoint":)")[0].at("type"), "json_invalid");
  EXPECT_TRUE(std::holds_alternative<JsonFault>(read_test_spec("{\"endpoint\":\"\xff\"}", ArrayReader(nullptr, {}))));
}

}  // namespace
}  // namespace tessera
