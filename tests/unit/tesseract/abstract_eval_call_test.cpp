// Bodies of abstract_eval: arrays as shape and dtype.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "requests.h"

namespace tessera {
namespace {

using nlohmann::json;

TesseractDefinition shapes() {
  return TesseractDefinition("shapes").inputs(
      Schema("InputSchema")
          .field("x", array(DType::kFloat64, {kFreeAxis}))
          .field("grid", array(DType::kFloat32, {2, 3}).optional(), "", nullptr)
          .field("any", array_of_any_dtype().optional(), "", nullptr)
          .field("gain", scalar(DType::kFloat64), "", 1.5)
          .field("rows", list_of(array(DType::kFloat64, {kFreeAxis})), "", List{Value(List{1, 2})})
          .field("steps", integer(), "", 1));
}

std::string with_x(std::string_view x, std::string_view more = "") {
  return R"({"inputs":{"x":)" + std::string(x) + std::string(more) + "}}";
}

Object inputs_of(const std::string& body) {
  return testing::call_of(shapes(), Endpoint::kAbstractEval, body).inputs;
}

json items(const std::string& body) {
  return testing::items_of(shapes(), Endpoint::kAbstractEval, body);
}

TEST(AbstractEvalCallTest, TakesShapesAndDTypes) {
  const Object inputs = inputs_of(with_x(R"({"shape":[4],"dtype":"int32"})", R"(,"any":{"shape":[],"dtype":"int8"})"));
  EXPECT_FALSE(inputs["x"].array().has_data());
  EXPECT_EQ(inputs["x"].array().shape(), (Shape{4}));
  EXPECT_EQ(inputs["x"].array().dtype(), DType::kFloat64);
  EXPECT_EQ(inputs["any"].array().dtype(), DType::kInt8);
}

TEST(AbstractEvalCallTest, MakesDefaultsShapesToo) {
  const Object inputs = inputs_of(with_x(R"({"shape":[4],"dtype":"float64"})"));
  EXPECT_FALSE(inputs["gain"].array().has_data());
  EXPECT_FALSE(inputs["rows"].list()[0].array().has_data());
  EXPECT_EQ(inputs["rows"].list()[0].array().shape(), (Shape{2}));
  EXPECT_EQ(inputs["steps"].integer(), 1);
}

TEST(AbstractEvalCallTest, IgnoresFurtherKeysOfAnArray) {
  const Object inputs = inputs_of(
      with_x(R"({"object_type":"array","shape":["2"],"dtype":"float64","data":{"buffer":[1,2],"encoding":"json"}})"));
  EXPECT_EQ(inputs["x"].array().shape(), (Shape{2}));
}

TEST(AbstractEvalCallTest, RefusesValuesInPlaceOfShapes) {
  for (const char* value : {"[1,2]", "5", R"("x")", "null"}) {
    EXPECT_EQ(items(with_x(value))[0].at("type"), "model_attributes_type") << value;
  }
}

TEST(AbstractEvalCallTest, DemandsExactShapes) {
  const json rank = items(with_x(R"({"shape":[4,1],"dtype":"float64"})"));
  EXPECT_EQ(rank[0].at("msg"), "Value error, Expected shape: (None,). Found: (4, 1).");
  EXPECT_EQ(rank[0].at("loc"), (json{"body", "inputs", "x"}));
  EXPECT_EQ(rank[0].at("ctx"), (json{{"error", json::object()}}));
  const json grid = items(with_x(R"({"shape":[4],"dtype":"float64"})", R"(,"grid":{"shape":[1,3],"dtype":"float32"})"));
  EXPECT_EQ(grid[0].at("msg"), "Value error, Expected shape: (2, 3). Found: (1, 3).");
}

TEST(AbstractEvalCallTest, RefusesShapesThatNoArrayHas) {
  for (const char* shape : {"[-4]", "[18446744073709551615]"}) {
    EXPECT_EQ(items(with_x(R"({"shape":)" + std::string(shape) + R"(,"dtype":"float64"})"))[0].at("type"),
              "value_error")
        << shape;
  }
  EXPECT_EQ(items(with_x(R"({"shape":[4],"dtype":"float64"})",
                         R"(,"any":{"shape":[4611686018427387904,4],"dtype":"int8"})"))[0]
                .at("type"),
            "value_error");
}

TEST(AbstractEvalCallTest, ChecksTheDType) {
  EXPECT_EQ(items(with_x(R"({"shape":[4],"dtype":"complex64"})"))[0].at("ctx"),
            (json{{"actual_dtype", "complex64"}, {"expected_dtype", "float64"}}));
  const json unknown = items(with_x(R"({"shape":[4],"dtype":"bfloat16"})"));
  EXPECT_EQ(unknown[0].at("type"), "literal_error");
  EXPECT_EQ(unknown[0].at("loc"), (json{"body", "inputs", "x", "dtype"}));
}

TEST(AbstractEvalCallTest, ReportsEachMemberOfAShape) {
  json found = json::array();
  for (const json& item : items(with_x(R"({"dtype":5,"shape":[1.5,"x",null]})"))) {
    found.push_back({item.at("type"), item.at("loc").back()});
  }
  EXPECT_EQ(found, json::parse(R"([["int_from_float",0],
["int_parsing",1],
["int_type",2],
["literal_error","dtype"]])"));
  EXPECT_EQ(items(with_x(R"({"shape":5,"dtype":"int8"})"))[0].at("type"), "tuple_type");
  const json missing = items(with_x("{}"));
  EXPECT_EQ(missing[0].at("loc").back(), "shape");
  EXPECT_EQ(missing[1].at("loc").back(), "dtype");
  EXPECT_EQ(missing[1].at("input"), json::object());
}

TEST(AbstractEvalCallTest, SaysWhatIsTooLargeAboutAShape) {
  const json above = items(with_x(R"({"shape":[9223372036854775808],"dtype":"float64"})"));
  EXPECT_EQ(above[0]["loc"], json::parse(R"(["body","inputs","x","shape",0])"));
  EXPECT_EQ(above[0]["type"], "value_error");
  EXPECT_EQ(above[0]["msg"], "Value error, A size above 9223372036854775807 is more than an array can have");
  EXPECT_EQ(above[0]["input"], json::parse("9223372036854775808"));
  const json product =
      items(with_x(R"({"shape":[1],"dtype":"float64"})", R"(,"any":{"shape":[4294967296,4294967296],"dtype":"int8"})"));
  EXPECT_EQ(product[0]["msg"],
            "Value error, Shape (4294967296, 4294967296) has more elements, or axes, than an array can have");
  const json negative = items(with_x(R"({"shape":[-1],"dtype":"float64"})"));
  EXPECT_EQ(negative[0]["msg"], "Value error, Expected shape: (None,). Found: (-1,).");
}

}  // namespace
}  // namespace tessera
