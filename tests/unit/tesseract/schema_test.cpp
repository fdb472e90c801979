#include "tessera/tesseract/schema.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <stdexcept>
#include <string>

#include "requests.h"

namespace tessera {
namespace {

using testing::vector_of_float64;

/// The default of a field; null, and a failure of the test, if it has none.
Value default_of(const Schema& schema, std::string_view name) {
  for (const Field& field : schema.fields()) {
    if (field.name == name && field.default_value) {
      return *field.default_value;
    }
  }
  ADD_FAILURE() << name << " has no default";
  return {};
}

std::string refusal_of_default(const Type& type, Value value) {
  Schema schema("InputSchema");
  try {
    schema.field("broken", type, "", std::move(value));
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(TypeTest, RefusesRefinementsThatDoNotGoWithIt) {
  EXPECT_THROW(static_cast<void>(text().at_least(1)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(integer().differentiable()), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(number().pattern("^a$")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(boolean().max_length(2)), std::invalid_argument);
}

TEST(TypeTest, RefusesAPatternThatIsNone) {
  EXPECT_THROW(static_cast<void>(text().pattern("(")), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(text().pattern("(?=x)")), std::invalid_argument);
}

TEST(TypeTest, RefusesChoicesOfNothingAndOfNumbersWithAPoint) {
  EXPECT_THROW(static_cast<void>(choice({})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(choice({1.5})), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(enumeration("Colour", {})), std::invalid_argument);
}

std::string refusal_of(const std::function<Type()>& make) {
  try {
    static_cast<void>(make());
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST(TypeTest, RefusesBoundsThatNoNumberKeeps) {
  EXPECT_EQ(refusal_of([] { return integer().at_least(5).at_most(3); }), "no integer is at least 5.0 and at most 3.0");
  EXPECT_EQ(refusal_of([] { return number().below(1).above(1); }), "no number is above 1.0 and below 1.0");
  EXPECT_NE(refusal_of([] { return number().at_least(1).below(1); }), "");
  EXPECT_NE(refusal_of([] { return integer().above(1).below(2); }), "");
  EXPECT_NE(refusal_of([] { return integer().at_least(1.25).at_most(1.75); }), "");
  EXPECT_NE(refusal_of([] { return number().at_least(std::nan("")); }), "");
  EXPECT_NE(refusal_of([] { return text().min_length(3).max_length(2); }), "");
}

TEST(TypeTest, TakesBoundsThatOneNumberKeeps) {
  EXPECT_EQ(refusal_of([] { return integer().at_least(3).at_most(3); }), "");
  EXPECT_EQ(refusal_of([] { return integer().above(1).below(3); }), "");
  EXPECT_EQ(refusal_of([] { return integer().above(0.5).below(1.5); }), "");
  EXPECT_EQ(refusal_of([] { return number().at_least(1).at_most(1); }), "");
  EXPECT_EQ(refusal_of([] { return number().above(1).below(1.5); }), "");
  EXPECT_EQ(refusal_of([] { return text().min_length(2).max_length(2); }), "");
}

TEST(TypeTest, RefusesAChoiceThatIsThereTwice) {
  EXPECT_EQ(refusal_of([] { return choice({"a", "b", "a"}); }), "a choice has 'a' twice");
  EXPECT_EQ(refusal_of([] { return choice({1, "1", 1}); }), "a choice has 1 twice");
  EXPECT_EQ(refusal_of([] { return choice({1, "1"}); }), "");
  EXPECT_NE(refusal_of([] { return enumeration("Colour", {"red", "red"}); }), "");
}

TEST(TypeTest, RefusesNegativeSizes) {
  EXPECT_THROW(static_cast<void>(array(DType::kInt8, {-2})), std::invalid_argument);
}

TEST(TypeTest, FindsItsPatternAnywhereInTheText) {
  EXPECT_TRUE(text().matches_pattern("anything"));
  EXPECT_TRUE(text().pattern("b+").matches_pattern("abbc"));
  EXPECT_FALSE(text().pattern("^b+$").matches_pattern("abbc"));
  EXPECT_FALSE(text().pattern("^b$").matches_pattern("b\n"));
}

TEST(SchemaTest, KeepsTheOrderOfItsFields) {
  Schema schema("InputSchema");
  schema.field("zeta", text()).field("alpha", integer(), "First.", 1).allow_extra_keys().describe("Both.");
  ASSERT_EQ(schema.fields().size(), 2U);
  EXPECT_EQ(schema.fields()[0].name, "zeta");
  EXPECT_TRUE(schema.fields()[0].is_required());
  EXPECT_EQ(schema.fields()[1].description, "First.");
  EXPECT_FALSE(schema.fields()[1].is_required());
  EXPECT_EQ(schema.find_field("alpha"), 1U);
  EXPECT_EQ(schema.find_field("beta"), std::nullopt);
}

TEST(SchemaTest, RefusesNamesThatCannotBeFields) {
  for (const char* name : {"", "1a", "a-b", "a b", "a.b"}) {
    EXPECT_THROW(Schema("InputSchema").field(name, text()), std::invalid_argument) << name;
  }
  EXPECT_THROW(Schema("InputSchema").field("a", text()).field("a", text()), std::invalid_argument);
}

TEST(SchemaTest, MakesDefaultsWhatTheTypeDeclares) {
  Schema schema("InputSchema");
  schema.field("gain", scalar(DType::kFloat32), "", 1)
      .field("row", vector_of_float64(), "", List{1, 2.5, true})
      .field("none", vector_of_float64().optional(), "", nullptr)
      .field("share", number(), "", 2)
      .field_with_hidden_default("names", list_of(text()), "", List{});
  const Array gain = default_of(schema, "gain").array();
  EXPECT_EQ(gain.dtype(), DType::kFloat32);
  EXPECT_EQ(gain.item<float>(), 1.0F);
  EXPECT_EQ(default_of(schema, "row").array().values<double>()[1], 2.5);
  EXPECT_TRUE(default_of(schema, "none").is_null());
  EXPECT_EQ(default_of(schema, "share").kind(), Value::Kind::kDouble);
  EXPECT_TRUE(schema.fields()[3].is_default_shown);
  EXPECT_FALSE(schema.fields()[4].is_default_shown);
}

TEST(SchemaTest, CompletesDefaultsThatAreObjects) {
  Schema inner("Inner");
  inner.field("a", integer(), "", 1).field("b", integer());
  Schema schema("InputSchema");
  schema.field("inner", object(inner), "", Object{{"b", 2}});
  EXPECT_EQ(default_of(schema, "inner").object()["a"].integer(), 1);
}

TEST(SchemaTest, RefusesDefaultsThatDoNotFitAndNamesTheField) {
  const Type point = object(Schema("Point").field("at", array(DType::kFloat64, {3})));
  EXPECT_NE(refusal_of_default(vector_of_float64(), 1.0).find("'broken'"), std::string::npos);
  EXPECT_NE(refusal_of_default(vector_of_float64(), nullptr), "");
  EXPECT_NE(refusal_of_default(vector_of_float64(), List{List{1}, 2}), "");
  EXPECT_NE(refusal_of_default(scalar(DType::kUInt8), -1).find("-1"), std::string::npos);
  EXPECT_NE(refusal_of_default(integer().at_most(3), 4), "");
  EXPECT_NE(refusal_of_default(text(), 4), "");
  EXPECT_NE(refusal_of_default(choice({"a"}), "b"), "");
  EXPECT_NE(refusal_of_default(list_of(point), List{Object{{"at", List{1, 2}}}}).find("[0].at"), std::string::npos);
  EXPECT_NE(refusal_of_default(dict_of(integer()), Object{{"k", "x"}}).find("{k}"), std::string::npos);
  EXPECT_NE(refusal_of_default(point, Object{{"at", List{1, 2, 3}}, {"more", 1}}).find("more"), std::string::npos);
  EXPECT_NE(refusal_of_default(anything(), List{Array()}), "");
}

TEST(DifferentiableArraysTest, AreFoundAtEveryDepthInOrder) {
  const Type weights = array(DType::kFloat32, {kFreeAxis, 3}).differentiable();
  Schema layer("Layer");
  layer.field("tag", text()).field("weights", weights);
  Schema schema("InputSchema");
  schema.field("plain", vector_of_float64())
      .field("x", vector_of_float64().differentiable().optional())
      .field("named", dict_of(vector_of_float64().differentiable()).optional())
      .field("layers", list_of(object(layer)))
      .field("nested", object(Schema("Nested").field("layer", object(layer))));
  std::vector<std::string> templates;
  for (const DifferentiableArray& one : schema.differentiable_arrays()) {
    templates.push_back(one.path_template);
  }
  EXPECT_EQ(templates, (std::vector<std::string>{"x", "named.{}", "layers.[].weights", "nested.layer.weights"}));
  EXPECT_EQ(schema.differentiable_arrays()[2].spec.shape, (Shape{kFreeAxis, 3}));
}

TEST(WithDefaultsTest, AddsWhatIsMissingAtEveryDepth) {
  Schema point("Point");
  point.field("label", text(), "", "p").field("at", integer());
  Schema schema("OutputSchema");
  schema.field("note", text().optional(), "", nullptr)
      .field("points", list_of(object(point)))
      .field("by_name", dict_of(object(point)), "", Object{})
      .field("needed", integer());
  const Object all = with_defaults(
      Object{{"extra", 1}, {"points", List{Object{{"at", 1}}}}, {"by_name", Object{{"k", Object{{"at", 2}}}}}}, schema);
  std::vector<std::string> keys;
  for (const Object::Member& member : all.members()) {
    keys.push_back(member.key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"note", "points", "by_name", "extra"}));
  EXPECT_FALSE(all.is_given("note"));
  EXPECT_TRUE(all.is_given("points"));
  EXPECT_EQ(all["points"].list()[0].object()["label"].text(), "p");
  EXPECT_EQ(all["by_name"].object()["k"].object()["label"].text(), "p");
}

}  // namespace
}  // namespace tessera
