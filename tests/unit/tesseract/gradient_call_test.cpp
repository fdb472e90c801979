// Bodies of the gradient endpoints: paths, tangents, cotangents.

#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <string>

#include "requests.h"

namespace tessera {
namespace {

using nlohmann::json;
using testing::call_of;
using testing::items_of;

Type differentiable_vector() {
  return testing::vector_of_float64().differentiable();
}

/// Everything upstream has a template for.
TesseractDefinition tree() {
  Schema layer("Layer");
  layer.field("weights", array(DType::kFloat32, {kFreeAxis, 3}).differentiable()).field("tag", text(), "", "dense");
  Schema inputs("InputSchema");
  inputs.field("x", differentiable_vector())
      .field("gain", scalar(DType::kFloat64).differentiable().optional(), "", nullptr)
      .field("named", dict_of(differentiable_vector()), "", Object{})
      .field("layers", list_of(object(layer)), "", List{})
      .field("fixed", array(DType::kFloat64, {2}), "", List{0, 0});
  Schema outputs("OutputSchema");
  outputs.field("y", differentiable_vector());
  return TesseractDefinition("tree").inputs(inputs).outputs(outputs);
}

std::string jvp(std::string_view inputs, std::string_view paths, std::string_view tangents) {
  return R"({"inputs":)" + std::string(inputs) + R"(,"jvp_inputs":)" + std::string(paths) +
         R"(,"jvp_outputs":["y"],"tangent_vector":)" + std::string(tangents) + "}";
}

std::string vjp(std::string_view outputs, std::string_view cotangents) {
  return R"({"inputs":{"x":[1,2]},"vjp_inputs":["x"],"vjp_outputs":)" + std::string(outputs) +
         R"(,"cotangent_vector":)" + std::string(cotangents) + "}";
}

constexpr std::string_view kPoint = R"({"x":[1,2],"named":{"a.b":[1]},"layers":[{"weights":[[1,2,3]]}]})";

json jvp_items(std::string_view inputs, std::string_view paths, std::string_view tangents) {
  return items_of(tree(), Endpoint::kJacobianVectorProduct, jvp(inputs, paths, tangents));
}

json vjp_items(std::string_view outputs, std::string_view cotangents) {
  return items_of(tree(), Endpoint::kVectorJacobianProduct, vjp(outputs, cotangents));
}

/// The types and places of items, without "body".
json found(const json& items) {
  json all = json::array();
  for (json item : items) {
    json one = json::array({item.at("type")});
    for (std::size_t i = 1; i < item.at("loc").size(); ++i) {
      one.push_back(item.at("loc")[i]);
    }
    all.push_back(one);
  }
  return all;
}

Call jvp_call(std::string_view inputs, std::string_view paths, std::string_view tangents) {
  return call_of(tree(), Endpoint::kJacobianVectorProduct, jvp(inputs, paths, tangents));
}

TEST(GradientCallTest, HoldsPathsOnceInTheirOrder) {
  const Call call = call_of(tree(), Endpoint::kJacobian,
                            R"({"inputs":{"x":[1]},"jac_inputs":["x","gain","x"],"jac_outputs":["y","y"]})");
  EXPECT_EQ(call.input_paths, (PathSet{"x", "gain"}));
  EXPECT_EQ(call.output_paths, (PathSet{"y"}));
  EXPECT_TRUE(call.vector.is_empty());
}

TEST(GradientCallTest, SaysWhichMembersAreMissingOrUnknown) {
  EXPECT_EQ(
      found(items_of(tree(), Endpoint::kVectorJacobianProduct, R"({"q":1,"inputs":{"x":[1]},"jac_inputs":["x"]})")),
      json::parse(R"([["missing","vjp_inputs"],
["missing","vjp_outputs"],
["missing","cotangent_vector"],
["extra_forbidden","q"],
["extra_forbidden","jac_inputs"]])"));
}

TEST(GradientCallTest, RefusesSetsThatAreNone) {
  EXPECT_EQ(found(jvp_items(kPoint, R"("x")", R"({"x":[1,2]})")), json::parse(R"([["set_type","jvp_inputs"],
["value_error","tangent_vector"]])"));
  const json empty = jvp_items(kPoint, "[]", R"({"x":[1,2]})");
  EXPECT_EQ(empty[0].at("msg"), "Set should have at least 1 item after validation, not 0");
  EXPECT_EQ(empty[1].at("msg"),
            "Value error, Unable to validate tangent vector as jvp_inputs either missing or invalid");
}

TEST(GradientCallTest, OffersEveryTemplateForAPathThatIsNone) {
  const json items = jvp_items(kPoint, R"(["x","named.a"])", "{}");
  EXPECT_EQ(found(items), json::parse(R"([["literal_error","jvp_inputs",1,"literal['x']"],
["literal_error","jvp_inputs",1,"literal['gain']"],
["string_pattern_mismatch","jvp_inputs",1,"constrained-str"],
["string_pattern_mismatch","jvp_inputs",1,"constrained-str"],
["value_error","tangent_vector"]])"));
  EXPECT_EQ(items[0].at("ctx"), (json{{"expected", "'x'"}}));
  EXPECT_EQ(items[3].at("ctx"), (json{{"pattern", R"(^layers\.\[\d+\]\.weights$)"}}));
  EXPECT_EQ(items[3].at("input"), "named.a");
}

TEST(GradientCallTest, SaysThatAPathIsNoText) {
  EXPECT_EQ(found(jvp_items(kPoint, "[5]", "{}"))[2], (json{"string_type", "jvp_inputs", 0, "constrained-str"}));
}

TEST(GradientCallTest, LeavesTheAlternativeOutWhereThereIsOnlyOne) {
  EXPECT_EQ(found(vjp_items(R"(["x"])", R"({"z":[1]})")), json::parse(R"([["literal_error","vjp_outputs",0],
["literal_error","cotangent_vector","z","[key]"]])"));
}

TEST(GradientCallTest, LooksForPathsIntoContainers) {
  const json items = jvp_items(kPoint, R"(["named.{zz}","named.{a.b}","layers.[1].weights"])", "{}");
  EXPECT_EQ(
      found(items),
      (json{{"value_error", "jvp_inputs", 0}, {"value_error", "jvp_inputs", 2}, {"value_error", "tangent_vector"}}));
  EXPECT_EQ(items[0].at("msg"), "Value error, Could not find jvp_inputs path named.{zz} in inputs.");
  EXPECT_EQ(found(jvp_items(R"({"x":"no","named":{"a":[1]}})", R"(["named.{a}"])", "{}"))[1],
            (json{"value_error", "jvp_inputs", 0}));
}

TEST(GradientCallTest, ReadsTheVectorEvenIfItComesFirst) {
  const Call call =
      call_of(tree(), Endpoint::kJacobianVectorProduct,
              R"({"tangent_vector":{"x":[1]},"jvp_outputs":["y"],"jvp_inputs":["x"],"inputs":{"x":[1,2,3]}})");
  EXPECT_EQ(call.vector["x"].array().shape(), (Shape{3}));
}

TEST(TangentTest, IsCastAndStretchedToItsInput) {
  const Call call = jvp_call(kPoint, R"(["layers.[0].weights","x"])",
                             R"({"x":{"shape":[1],"dtype":"int8","data":{"buffer":[3],"encoding":"json"}},)"
                             R"("layers.[0].weights":[[7]]})");
  EXPECT_EQ(call.vector["x"].array().values<double>()[1], 3.0);
  EXPECT_EQ(call.vector["layers.[0].weights"].array().dtype(), DType::kFloat32);
  EXPECT_EQ(call.vector["layers.[0].weights"].array().shape(), (Shape{1, 3}));
}

TEST(TangentTest, OfAnInputThatIsNullIsANumber) {
  EXPECT_EQ(jvp_call(kPoint, R"(["gain"])", R"({"gain":1})").vector["gain"].array().rank(), 0U);
}

TEST(TangentTest, NamesItselfWhereItDoesNotFit) {
  const json shape = jvp_items(kPoint, R"(["x"])", R"({"x":[1,2,3]})");
  EXPECT_EQ(found(shape), json::parse(R"([["value_error","tangent_vector"]])"));
  EXPECT_EQ(shape[0].at("msg"),
            "Value error, Tangent vector 'x': Array shape (3,) is incompatible with expected shape (2,)");
  EXPECT_EQ(shape[0].at("input"), (json{{"x", {1, 2, 3}}}));
  EXPECT_EQ(shape[0].at("ctx"), (json{{"error", json::object()}}));
  EXPECT_EQ(found(jvp_items(kPoint, R"(["x"])", R"({"x":1.0})")), json::parse(R"([["value_error","tangent_vector"]])"));
}

TEST(TangentTest, HasTheKeysOfTheInputs) {
  const json items = jvp_items(kPoint, R"(["x"])", R"({"gain":1})");
  EXPECT_EQ(items[0].at("msg"),
            "Value error, Expected tangent vector with keys conforming to jvp_inputs: {'x'}, got {'gain'}.");
  EXPECT_EQ(jvp_items(kPoint, R"(["x"])", "{}")[0].at("msg"),
            "Value error, Expected tangent vector with keys conforming to jvp_inputs: {'x'}, got set().");
}

TEST(TangentTest, IsReportedKeyByKey) {
  EXPECT_EQ(found(jvp_items(kPoint, R"(["x"])", R"({"q":"no","x":["a"]})")),
            json::parse(R"([["literal_error","tangent_vector","q","[key]","literal['x']"],
["literal_error","tangent_vector","q","[key]","literal['gain']"],
["string_pattern_mismatch","tangent_vector","q","[key]","constrained-str"],
["string_pattern_mismatch","tangent_vector","q","[key]","constrained-str"],
["array_non_numeric","tangent_vector","q"],
["array_non_numeric","tangent_vector","x"]])"));
  EXPECT_EQ(found(jvp_items(kPoint, R"(["x"])", "[1]")), json::parse(R"([["dict_type","tangent_vector"]])"));
}

TEST(TangentTest, WaitsForTheInputs) {
  const json items = jvp_items(R"({"x":"no"})", R"(["x"])", R"({"x":[1]})");
  EXPECT_EQ(found(items), json::parse(R"([["array_non_numeric","inputs","x"],
["value_error","tangent_vector"]])"));
  EXPECT_EQ(items[1].at("msg"), "Value error, Unable to validate tangent vector as inputs either missing or invalid");
}

TEST(CotangentTest, IsCheckedAgainstTheSchema) {
  const Call call = call_of(tree(), Endpoint::kVectorJacobianProduct, vjp(R"(["y"])", R"({"y":[1,2,3,4,5]})"));
  EXPECT_EQ(call.vector["y"].array().dtype(), DType::kFloat64);
  EXPECT_EQ(vjp_items(R"(["y"])", R"({"y":[[1]]})")[0].at("msg"),
            "Value error, Cotangent vector 'y': Array has wrong number of dimensions: got 2D, expected 1D");
  EXPECT_EQ(vjp_items(R"("y")", R"({"y":[1]})")[1].at("msg"),
            "Value error, Unable to validate cotangent vector as vjp_outputs either missing or invalid");
}

TEST(CotangentTest, DoesNotWaitForTheInputs) {
  EXPECT_EQ(found(items_of(tree(), Endpoint::kVectorJacobianProduct,
                           R"({"inputs":{},"vjp_inputs":["x"],"vjp_outputs":["y"],"cotangent_vector":{"y":[1]}})")),
            json::parse(R"([["missing","inputs","x"]])"));
}

TEST(GradientCallTest, IsQuickAboutManyPaths) {
  std::string paths = "[";
  std::string tangents = "{";
  for (int i = 0; i < 100000; ++i) {
    paths += (i == 0 ? R"("named.{k)" : R"(,"named.{k)") + std::to_string(i) + R"(}")";
    tangents += (i == 0 ? R"("named.{k)" : R"(,"named.{k)") + std::to_string(i) + R"(}":1)";
  }
  // Quadratic work would take minutes; the bound leaves room for sanitizers on a busy machine.
  const auto start = std::chrono::steady_clock::now();
  EXPECT_LE(jvp_items(kPoint, paths + "]", tangents + "}").size(), 1000U);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
}

}  // namespace
}  // namespace tessera
