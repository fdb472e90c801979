#include "tessera/tesseract/problem.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace tessera {
namespace {

using Kind = Problem::Kind;
using nlohmann::json;

Problem problem_of(Kind kind, std::string text = "", Value bound = nullptr, std::int64_t count = 0) {
  Problem problem;
  problem.kind = kind;
  problem.place = {"body", "inputs", "x", std::int64_t{1}};
  problem.input = "5";
  problem.text = std::move(text);
  problem.bound = std::move(bound);
  problem.count = count;
  return problem;
}

Problem array_problem(ArrayFault fault) {
  Problem problem = problem_of(Kind::kArray);
  problem.array = std::move(fault);
  return problem;
}

json item_of(const Problem& problem) {
  return json::parse(problems_to_json({problem})).at("detail").at(0);
}

struct Words {
  Problem problem;
  std::string type;
  std::string message;
  json ctx = nullptr;  ///< null: there is none
};

class ProblemWordsTest : public ::testing::TestWithParam<Words> {};

TEST_P(ProblemWordsTest, AreThoseOfPydantic) {
  const json item = item_of(GetParam().problem);
  EXPECT_EQ(item.at("type"), GetParam().type);
  EXPECT_EQ(item.at("msg"), GetParam().message);
  EXPECT_EQ(item.contains("ctx") ? item.at("ctx") : json(nullptr), GetParam().ctx);
}

const std::string kInteger = "Input should be a valid integer";

INSTANTIATE_TEST_SUITE_P(
    Plain, ProblemWordsTest,
    ::testing::Values(
        Words{problem_of(Kind::kMissing), "missing", "Field required"},
        Words{problem_of(Kind::kExtraForbidden), "extra_forbidden", "Extra inputs are not permitted"},
        Words{problem_of(Kind::kJsonInvalid, "Expecting value"),
              "json_invalid",
              "JSON decode error",
              {{"error", "Expecting value"}}},
        Words{problem_of(Kind::kStringType), "string_type", "Input should be a valid string"},
        Words{problem_of(Kind::kStringTooShort, "", 1),
              "string_too_short",
              "String should have at least 1 character",
              {{"min_length", 1}}},
        Words{problem_of(Kind::kStringTooLong, "", 5),
              "string_too_long",
              "String should have at most 5 characters",
              {{"max_length", 5}}},
        Words{problem_of(Kind::kStringPatternMismatch, "^\\d$"),
              "string_pattern_mismatch",
              "String should match pattern '^\\d$'",
              {{"pattern", "^\\d$"}}},
        Words{problem_of(Kind::kStringUnicode), "string_unicode",
              "Input should be a valid string, unable to parse raw data as a unicode string"},
        Words{problem_of(Kind::kIntType), "int_type", kInteger},
        Words{problem_of(Kind::kIntFromFloat), "int_from_float", kInteger + ", got a number with a fractional part"},
        Words{problem_of(Kind::kIntParsing), "int_parsing", kInteger + ", unable to parse string as an integer"},
        Words{problem_of(Kind::kIntParsingSize), "int_parsing_size",
              "Unable to parse input string as an integer, exceeded maximum size"},
        Words{problem_of(Kind::kFloatType), "float_type", "Input should be a valid number"},
        Words{problem_of(Kind::kFiniteNumber), "finite_number", "Input should be a finite number"},
        Words{problem_of(Kind::kBoolParsing), "bool_parsing",
              "Input should be a valid boolean, unable to interpret input"},
        Words{problem_of(Kind::kLiteralError, "'a' or 2"),
              "literal_error",
              "Input should be 'a' or 2",
              {{"expected", "'a' or 2"}}},
        Words{problem_of(Kind::kEnum, "'a'"), "enum", "Input should be 'a'", {{"expected", "'a'"}}},
        Words{problem_of(Kind::kListType), "list_type", "Input should be a valid list"},
        Words{problem_of(Kind::kDictType), "dict_type", "Input should be a valid dictionary"},
        Words{problem_of(Kind::kSetType), "set_type", "Input should be a valid set"},
        Words{problem_of(Kind::kTupleType), "tuple_type", "Input should be a valid tuple"},
        Words{problem_of(Kind::kTooShort, "Set", 1, 0),
              "too_short",
              "Set should have at least 1 item after validation, not 0",
              {{"field_type", "Set"}, {"min_length", 1}, {"actual_length", 0}}},
        Words{problem_of(Kind::kTooLong, "List", 4, 5),
              "too_long",
              "List should have at most 4 items after validation, not 5",
              {{"field_type", "List"}, {"max_length", 4}, {"actual_length", 5}}},
        Words{problem_of(Kind::kGreaterThan, "", 0.0), "greater_than", "Input should be greater than 0", {{"gt", 0.0}}},
        Words{problem_of(Kind::kGreaterThanEqual, "", -5),
              "greater_than_equal",
              "Input should be greater than or equal to -5",
              {{"ge", -5}}},
        Words{problem_of(Kind::kLessThan, "", 0.5), "less_than", "Input should be less than 0.5", {{"lt", 0.5}}},
        Words{problem_of(Kind::kLessThanEqual, "", 1e20),
              "less_than_equal",
              "Input should be less than or equal to 100000000000000000000",
              {{"le", 1e20}}},
        Words{problem_of(Kind::kValueError, R"(no "good")"),
              "value_error",
              R"(Value error, no "good")",
              {{"error", json::object()}}}));

INSTANTIATE_TEST_SUITE_P(
    OfArrays, ProblemWordsTest,
    ::testing::Values(
        Words{array_problem({}), "array_non_numeric",
              "Could not parse value as a numeric array (contains non-numeric data)", json::object()},
        Words{array_problem({ArrayFault::Kind::kRagged, {}, {}, {}, {}, "", "", "rows differ"}),
              "value_error",
              "Value error, rows differ",
              {{"error", json::object()}}},
        Words{array_problem({ArrayFault::Kind::kDecode, {}, {}, {}, {}, "", "base64", "odd"}),
              "array_decode_error",
              "Failed to decode array buffer (base64 encoding): odd",
              {{"encoding", "base64"}, {"error", "odd"}}},
        Words{array_problem({ArrayFault::Kind::kDimensionality, {2, 2}, {kFreeAxis}, {}, {}, "", "", ""}),
              "array_dimensionality_mismatch",
              "Array has wrong number of dimensions: got 2D, expected 1D",
              {{"actual_dims", 2}, {"expected_dims", 1}}},
        Words{array_problem({ArrayFault::Kind::kShape, {2}, {3}, {}, {}, "", "", ""}),
              "array_shape_mismatch",
              "Array shape (2,) is incompatible with expected shape (3,)",
              {{"actual_shape", {2}}, {"expected_shape", {3}}}},
        Words{array_problem({ArrayFault::Kind::kDType, {}, {}, DType::kFloat64, DType::kInt16, "", "", ""}),
              "array_dtype_mismatch",
              "Array dtype 'float64' cannot be safely cast to 'int16'",
              {{"actual_dtype", "float64"}, {"expected_dtype", "int16"}}},
        Words{array_problem({ArrayFault::Kind::kOutOfRange, {}, {}, {}, DType::kUInt8, "256", "", ""}),
              "array_value_out_of_range",
              "Array values do not fit into dtype 'uint8' (e.g. 256)",
              {{"expected_dtype", "uint8"}, {"value", "256"}}},
        Words{array_problem({ArrayFault::Kind::kExpectedInteger, {}, {}, {}, {}, "", "", ""}), "array_expected_integer",
              "Expected integer data, but array contains floating point values", json::object()}));

TEST(ProblemsToJsonTest, WritesTheKeysInPydanticsOrder) {
  EXPECT_EQ(problems_to_json({problem_of(Kind::kLessThan, "", 1.0)}),
            R"({"detail":[{"type":"less_than","loc":["body","inputs","x",1],"msg":"Input should be less than 1",)"
            R"("input":5,"ctx":{"lt":1.0}}]})");
}

TEST(ProblemsToJsonTest, ShowsNullOrAnEmptyObjectWhereNoInputIs) {
  Problem missing = problem_of(Kind::kMissing);
  missing.input = {};
  EXPECT_EQ(item_of(missing).at("input"), nullptr);
  Problem invalid = problem_of(Kind::kJsonInvalid);
  invalid.input = {};
  EXPECT_EQ(item_of(invalid).at("input"), json::object());
}

TEST(ProblemsToJsonTest, ShowsTextsThatAreNoJson) {
  Problem problem = problem_of(Kind::kModelAttributesType);
  problem.input_is_text = true;
  problem.input_text = R"(a="1")";
  EXPECT_EQ(item_of(problem).at("input"), R"(a="1")");
}

TEST(ProblemsToJsonTest, ShowsNaNAsNull) {
  Problem problem = problem_of(Kind::kLessThan, "", 1.0);
  problem.input = "[NaN, -Infinity, 1]";
  EXPECT_EQ(item_of(problem).at("input"), json::parse("[null, null, 1]"));
}

TEST(ProblemsToJsonTest, ShowsTheSizeOfAnEndlessNumber) {
  const std::string endless = R"(["x",-)" + std::string(400, '1') + "]";
  Problem problem = problem_of(Kind::kIntParsingSize);
  problem.input = endless;
  EXPECT_EQ(item_of(problem).at("input"), "…(407 bytes)");
  const std::string harmless = R"([1,")" + std::string(400, '1') + R"("])";
  problem.input = harmless;
  EXPECT_EQ(item_of(problem).at("input")[0], 1);
}

TEST(ProblemsToJsonTest, ShowsTheSizeOfALargeInput) {
  const std::string large = R"(")" + std::string(100000, 'x') + R"(")";
  Problem problem = problem_of(Kind::kArray);
  problem.array = ArrayFault();
  problem.input = large;
  EXPECT_EQ(item_of(problem).at("input"), "…(100002 bytes)");
}

TEST(ProblemsToJsonTest, DoesNotMultiplyTheRequest) {
  const std::string input = R"(")" + std::string(60000, 'x') + R"(")";
  Problem problem = problem_of(Kind::kIntType);
  problem.input = input;
  const std::string body = problems_to_json(std::vector<Problem>(1000, problem));
  EXPECT_EQ(json::parse(body).at("detail").size(), 1000U);
  EXPECT_LT(body.size(), std::size_t{2} << 20);
}

TEST(ProblemsToTextTest, NamesPlacesAndTypes) {
  Problem problem = problem_of(Kind::kMissing);
  problem.input = "{}";
  EXPECT_EQ(problems_to_text({problem}, "ApplyInputSchema"),
            "1 validation error for ApplyInputSchema\ninputs.x.1\n  Field required [type=missing, input={}]");
  EXPECT_EQ(problems_to_text({problem, problem}, "T").substr(0, 25), "2 validation errors for T");
}

}  // namespace
}  // namespace tessera
