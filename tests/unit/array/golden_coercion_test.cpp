// Every coercion case of the golden vectors: the array, or the type and the context of the one 422 item.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tessera/array/array_reader.h"
#include "tessera/array/base64.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

// PROTOCOL.md section 7.3 for one fault.
struct Item {
  std::string type;
  std::string message;
  Json context = Json::object();
};

Item item_of(const ArrayFault& fault) {
  const auto name = [](std::optional<DType> dtype) { return std::string(name_of(dtype.value())); };
  switch (fault.kind) {
    case ArrayFault::Kind::kNonNumeric:
      return {"array_non_numeric", "Could not parse value as a numeric array (contains non-numeric data)"};
    case ArrayFault::Kind::kRagged:
      return {"value_error", "Value error, " + fault.reason, {{"error", Json::object()}}};
    case ArrayFault::Kind::kDecode:
      return {"array_decode_error",
              "Failed to decode array buffer (" + fault.encoding + " encoding): " + fault.reason,
              {{"encoding", fault.encoding}, {"error", fault.reason}}};
    case ArrayFault::Kind::kDimensionality:
      return {"array_dimensionality_mismatch",
              "Array has wrong number of dimensions: got " + std::to_string(fault.actual_shape.size()) +
                  "D, expected " + std::to_string(fault.expected_shape.size()) + "D",
              {{"actual_dims", fault.actual_shape.size()}, {"expected_dims", fault.expected_shape.size()}}};
    case ArrayFault::Kind::kShape:
      return {"array_shape_mismatch",
              "Array shape " + python_tuple(fault.actual_shape) + " is incompatible with expected shape " +
                  python_tuple(fault.expected_shape),
              {{"actual_shape", fault.actual_shape}, {"expected_shape", fault.expected_shape}}};
    case ArrayFault::Kind::kDType:
      return {"array_dtype_mismatch",
              "Array dtype '" + name(fault.actual_dtype) + "' cannot be safely cast to '" + name(fault.expected_dtype) +
                  "'",
              {{"actual_dtype", name(fault.actual_dtype)}, {"expected_dtype", name(fault.expected_dtype)}}};
    case ArrayFault::Kind::kOutOfRange:
      return {"array_value_out_of_range",
              "Array values do not fit into dtype '" + name(fault.expected_dtype) + "' (e.g. " + fault.value + ")",
              {{"expected_dtype", name(fault.expected_dtype)}, {"value", fault.value}}};
    case ArrayFault::Kind::kExpectedInteger:
      break;
  }
  return {"array_expected_integer", "Expected integer data, but array contains floating point values"};
}

ArraySpec spec_of(const Json& test_case) {
  ArraySpec spec;
  if (!test_case.at("dtype").is_null()) {
    spec.dtype = find_dtype(test_case.at("dtype").get<std::string>());
  }
  if (!test_case.at("shape").is_string()) {
    spec.shape.emplace();
    for (const Json& size : test_case.at("shape")) {
      spec.shape->push_back(size.is_null() ? kFreeAxis : size.get<std::int64_t>());
    }
  }
  return spec;
}

std::string base64_of(const Array& array) {
  std::string text(base64_length(array.size_bytes()), ' ');
  base64_encode(array.bytes(), text.data());
  return text;
}

void expect_array(const std::variant<Array, ArrayFault>& read, const Json& expected) {
  const auto* const array = std::get_if<Array>(&read);
  ASSERT_NE(array, nullptr) << item_of(std::get<ArrayFault>(read)).message;
  EXPECT_EQ(name_of(array->dtype()), expected.at("dtype").get<std::string>());
  EXPECT_EQ(array->shape(), expected.at("shape").get<Shape>());
  EXPECT_EQ(base64_of(*array), expected.at("raw_base64").get<std::string>());
}

// The part of a message that is not another library's words.
std::string own_part(const std::string& message, const std::string& type) {
  if (type == "array_decode_error") {
    return message.substr(0, message.find("): ") + 3);
  }
  return type == "value_error" ? "Value error, " : message;
}

void expect_item(const std::variant<Array, ArrayFault>& read, const Json& expected, bool is_foreign_text) {
  const auto* const fault = std::get_if<ArrayFault>(&read);
  ASSERT_NE(fault, nullptr) << "an array was read";
  const Item item = item_of(*fault);
  ASSERT_EQ(item.type, expected.at("type").get<std::string>()) << item.message;
  const auto message = expected.at("msg").get<std::string>();
  if (is_foreign_text) {
    EXPECT_EQ(own_part(item.message, item.type), own_part(message, item.type));
    EXPECT_FALSE(fault->reason.empty());
  } else {
    EXPECT_EQ(item.message, message);
    EXPECT_EQ(item.context, expected.at("ctx"));
  }
}

// All but those that PROTOCOL.md section 17 lets us improve on; ArrayReaderTest has these.
std::vector<Json> binding_cases() {
  std::ifstream file(TESSERA_TESTS_DIR "/vectors/coercion.json");
  auto cases = Json::parse(file).at("cases").get<std::vector<Json>>();
  std::erase_if(cases, [](const Json& test_case) { return test_case.value("may_differ", false); });
  return cases;
}

class GoldenCoercionTest : public ::testing::TestWithParam<Json> {};

TEST_P(GoldenCoercionTest, GivesTheArrayOrTheItemOfTheRuntime) {
  const Json& test_case = GetParam();
  const auto input = test_case.at("input").get<std::string>();
  JsonScanner scanner(input);
  const std::variant<Array, ArrayFault> read = ArrayReader(nullptr, {}).read(scanner, spec_of(test_case));
  scanner.expect_end();
  ASSERT_FALSE(scanner.has_fault()) << scanner.fault().text;
  if (test_case.contains("ok")) {
    expect_array(read, test_case.at("ok"));
  } else {
    expect_item(read, test_case.at("error"), test_case.value("foreign_text", false));
  }
}

INSTANTIATE_TEST_SUITE_P(All, GoldenCoercionTest, ::testing::ValuesIn(binding_cases()));

TEST(GoldenCoercionTableTest, ListsWhatCanBeCast) {
  std::ifstream file(TESSERA_TESTS_DIR "/vectors/coercion.json");
  const Json castable = Json::parse(file).at("castable");
  for (const DType to : all_dtypes()) {
    const auto sources = castable.at(std::string(name_of(to))).get<std::vector<std::string>>();
    for (const DType from : all_dtypes()) {
      const bool is_listed = std::ranges::find(sources, name_of(from)) != sources.end();
      EXPECT_EQ(is_castable(from, to), is_listed) << name_of(from) << " to " << name_of(to);
    }
  }
}

}  // namespace
}  // namespace tessera
