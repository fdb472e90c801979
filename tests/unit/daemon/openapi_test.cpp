#include "tessera/daemon/openapi.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "service_client.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

RuntimeConfig config_named(const std::string& name) {
  RuntimeConfig config;
  config.name = name;
  return config;
}

Json document_of(const TesseractDefinition& definition, const RuntimeConfig& config = {}) {
  return Json::parse(openapi_document(definition, config));
}

/// A Tesseract with this input schema, and one differentiable output named y.
TesseractDefinition definition_of(Schema inputs) {
  return TesseractDefinition("probe")
      .inputs(std::move(inputs))
      .outputs(Schema("OutputSchema").field("y", array(DType::kFloat64, {kFreeAxis}).differentiable()))
      .apply([](const Object&, Context&) { return Object{}; });
}

Json property_of(const Type& type, const std::string& name = "field_name") {
  const Json document = document_of(definition_of(Schema("InputSchema").field(name, type)));
  return document["components"]["schemas"]["Apply_InputSchema"]["properties"][name];
}

TEST(OpenApiTest, KeepsTheOrderOfPathsAndProperties) {
  const std::string text = openapi_document(*testing::make_mixer(), config_named("Tesseract"));
  const auto document = nlohmann::ordered_json::parse(text);
  std::vector<std::string> paths;
  for (const auto& [path, operations] : document["paths"].items()) {
    paths.push_back(path);
  }
  EXPECT_EQ(paths, (std::vector<std::string>{"/apply", "/jacobian", "/jacobian_vector_product",
                                             "/vector_jacobian_product", "/health", "/abstract_eval"}));
  const auto& properties = document["components"]["schemas"]["Apply_InputSchema"]["properties"];
  EXPECT_EQ(properties.begin().key(), "x");
  EXPECT_EQ((--properties.end()).key(), "mode");
}

TEST(OpenApiTest, TakesInfoFromTheConfigurationThenFromTheTesseract) {
  TesseractDefinition definition = definition_of(Schema("InputSchema"));
  definition.version("3").describe("own");
  EXPECT_EQ(document_of(definition)["info"], Json({{"title", "probe"}, {"version", "3"}, {"description", "own"}}));
  RuntimeConfig config = config_named("other");
  config.version = "4";
  config.description = R"(one\ntwo)";
  EXPECT_EQ(document_of(definition, config)["info"],
            Json({{"title", "other"}, {"version", "4"}, {"description", "one\ntwo"}}));
}

TEST(OpenApiTest, ShowsTheTestRouteInDebugOnly) {
  RuntimeConfig config;
  EXPECT_FALSE(document_of(*testing::make_mixer(), config)["paths"].contains("/test"));
  config.debug = true;
  const Json document = document_of(*testing::make_mixer(), config);
  EXPECT_TRUE(document["paths"].contains("/test"));
  EXPECT_EQ(document["components"]["schemas"]["TestSpec"]["required"], Json({"endpoint", "payload"}));
}

TEST(OpenApiTest, LeavesOutEndpointsThatAreNotThere) {
  const Json document = document_of(definition_of(Schema("InputSchema").field("n", integer())));
  EXPECT_EQ(document["paths"].size(), 2U);
  EXPECT_FALSE(document["components"]["schemas"].contains("ShapeDType"));
  EXPECT_FALSE(document["components"]["schemas"].contains("JacobianInputSchema"));
}

TEST(OpenApiTest, DescribesPlainTypes) {
  EXPECT_EQ(property_of(boolean()), Json({{"type", "boolean"}, {"title", "Field Name"}}));
  EXPECT_EQ(property_of(number().above(0).below(1), "odd__name2x"),
            Json({{"type", "number"}, {"exclusiveMinimum", 0.0}, {"exclusiveMaximum", 1.0}, {"title", "Odd  Name2X"}}));
  EXPECT_EQ(
      property_of(text().min_length(2).max_length(5).pattern("^[A-Z]+$")),
      Json({{"type", "string"}, {"minLength", 2}, {"maxLength", 5}, {"pattern", "^[A-Z]+$"}, {"title", "Field Name"}}));
  EXPECT_EQ(property_of(anything()), Json({{"title", "Field Name"}}));
  const Json null_type = {{"type", "null"}};
  EXPECT_EQ(property_of(integer().optional()),
            Json({{"anyOf", Json::array({{{"type", "integer"}}, null_type})}, {"title", "Field Name"}}));
}

TEST(OpenApiTest, DescribesChoices) {
  EXPECT_EQ(property_of(choice({"a"})), Json({{"type", "string"}, {"const", "a"}, {"title", "Field Name"}}));
  EXPECT_EQ(property_of(choice({1, 2})), Json({{"type", "integer"}, {"enum", {1, 2}}, {"title", "Field Name"}}));
  EXPECT_EQ(property_of(choice({1, "a"})), Json({{"enum", {1, "a"}}, {"title", "Field Name"}}));
}

TEST(OpenApiTest, GivesEnumerationsAComponentWithoutPrefix) {
  const Type colour = enumeration("Colour", {"red", "green"});
  EXPECT_EQ(property_of(colour), Json({{"$ref", "#/components/schemas/Colour"}}));
  EXPECT_EQ(document_of(definition_of(Schema("InputSchema").field("c", colour)))["components"]["schemas"]["Colour"],
            Json({{"type", "string"}, {"enum", {"red", "green"}}, {"title", "Colour"}}));
}

TEST(OpenApiTest, DescribesContainers) {
  EXPECT_EQ(property_of(list_of(integer()).max_length(4)),
            Json({{"items", {{"type", "integer"}}}, {"type", "array"}, {"maxItems", 4}, {"title", "Field Name"}}));
  EXPECT_EQ(property_of(dict_of(number()).min_length(1)), Json({{"additionalProperties", {{"type", "number"}}},
                                                                {"type", "object"},
                                                                {"minProperties", 1},
                                                                {"title", "Field Name"}}));
  EXPECT_EQ(property_of(dict_of(anything()))["additionalProperties"], true);
  EXPECT_EQ(property_of(list_of(array(DType::kFloat32, {2})))["items"]["title"],
            "EncodedArrayModel__2__float32__noflags");
  EXPECT_FALSE(property_of(dict_of(array(DType::kFloat32, {2})))["additionalProperties"].contains("title"));
}

TEST(OpenApiTest, DescribesNestedModelsByReference) {
  Schema inner("Inner");
  inner.field("n", integer()).allow_extra_keys();
  const Json reference = {{"$ref", "#/components/schemas/Apply_Inner"}};
  EXPECT_EQ(property_of(object(inner)), reference);
  EXPECT_EQ(property_of(object(inner).optional()), Json({{"anyOf", {reference, {{"type", "null"}}}}}));
  const Json document = document_of(definition_of(Schema("InputSchema").field("i", list_of(object(inner)))));
  const Json& schemas = document["components"]["schemas"];
  EXPECT_EQ(schemas["Apply_Inner"]["additionalProperties"], true);
  EXPECT_EQ(schemas["ApplyInputSchema"]["field_order"], Json({{"", {"i"}}, {"i.[]", Json::array({"n"})}}));
}

TEST(OpenApiTest, TellsModelsOfOneNameApart) {
  Schema inputs("InputSchema");
  inputs.field("a", object(Schema("Part").field("n", integer())));
  inputs.field("b", object(Schema("Part").field("t", text())));
  inputs.field("c", object(Schema("Part").field("n", integer())));
  const Json document = document_of(definition_of(std::move(inputs)));
  const Json& properties = document["components"]["schemas"]["Apply_InputSchema"]["properties"];
  EXPECT_EQ(properties["a"], properties["c"]);
  EXPECT_NE(properties["a"], properties["b"]);
}

TEST(OpenApiTest, ShowsDefaultsUnlessTheyAreNullOrHidden) {
  Schema inputs("InputSchema");
  inputs.field("gain", scalar(DType::kFloat64), "", 1.5);
  inputs.field("vector", array(DType::kFloat32, {2}), "", Array::of({1.0F, 2.0F}));
  inputs.field("nothing", integer().optional(), "", nullptr);
  inputs.field("tree", anything(), "", Object{{"a", List{1, nullptr}}, {"b", nullptr}});
  inputs.field_with_hidden_default("made", list_of(integer()), "", List{1});
  const Json document = document_of(definition_of(std::move(inputs)));
  const Json& model = document["components"]["schemas"]["Apply_InputSchema"];
  EXPECT_EQ(model["properties"]["gain"]["default"], 1.5);
  EXPECT_EQ(model["properties"]["vector"]["default"], Json({1.0, 2.0}));
  EXPECT_FALSE(model["properties"]["nothing"].contains("default"));
  EXPECT_EQ(model["properties"]["tree"]["default"], Json({{"a", {1, nullptr}}}));
  EXPECT_FALSE(model["properties"]["made"].contains("default"));
  EXPECT_FALSE(model.contains("required"));
}

TEST(OpenApiTest, DescribesShapesOfArrays) {
  const Json shape = property_of(array(DType::kBool, {kFreeAxis, 1, 0}))["properties"]["shape"];
  EXPECT_EQ(shape["prefixItems"], Json({{{"type", "integer"}, {"minimum", 0.0}},
                                        {{"type", "integer"}, {"const", 1}},
                                        {{"type", "integer"}, {"enum", {1, 0}}}}));
  EXPECT_EQ(shape["examples"], Json::parse("[[1,1,0]]"));
  EXPECT_EQ(property_of(array(DType::kBool))["properties"]["dtype"]["const"], "bool");
}

TEST(OpenApiTest, StatesTheOnlyPathOfGradients) {
  TesseractDefinition definition =
      definition_of(Schema("InputSchema").field("d", dict_of(array(DType::kFloat64, {2}).differentiable())));
  definition.vector_jacobian_product(
      [](const Object&, const PathSet&, const PathSet&, const Object&, Context&) { return Object{}; });
  const Json document = document_of(definition);
  const Json& schemas = document["components"]["schemas"];
  const Json& request = schemas["VJPInputSchema"]["properties"];
  const std::string pattern = R"(^d\.\{(?:[^{}\\]|\\.)+\}$)";
  EXPECT_EQ(request["vjp_inputs"]["items"], Json({{"type", "string"}, {"pattern", pattern}}));
  EXPECT_EQ(request["vjp_outputs"]["items"], Json({{"type", "string"}, {"const", "y"}}));
  EXPECT_EQ(request["cotangent_vector"]["propertyNames"], Json({{"const", "y"}}));
  EXPECT_TRUE(schemas["VJPOutputSchema"]["patternProperties"].contains(pattern));
}

}  // namespace
}  // namespace tessera
