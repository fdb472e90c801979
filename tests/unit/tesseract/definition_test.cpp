#include "tessera/tesseract/definition.h"

#include <gtest/gtest.h>

#include <string>

namespace tessera {
namespace {

Object hand_back(const Object& inputs, Context& /*context*/) {
  return inputs;
}

TesseractDefinition named(const std::string& name) {
  return TesseractDefinition(name).apply(hand_back);
}

std::string refusal(const TesseractDefinition& definition) {
  const Status status = definition.check();
  return status.has_value() ? "" : status.error().message();
}

Schema with_one_array(const std::string& name, bool is_differentiable) {
  const Type type = array(DType::kFloat64, {kFreeAxis});
  return Schema(name).field("x", is_differentiable ? type.differentiable() : type);
}

TEST(EndpointTest, IsFoundByTheNameOfItsRoute) {
  EXPECT_EQ(find_endpoint("jacobian_vector_product"), Endpoint::kJacobianVectorProduct);
  EXPECT_EQ(find_endpoint("abstract_eval"), Endpoint::kAbstractEval);
  EXPECT_EQ(find_endpoint("health"), std::nullopt);
  EXPECT_EQ(name_of(Endpoint::kVectorJacobianProduct), "vector_jacobian_product");
}

TEST(TesseractDefinitionTest, KeepsWhatItsAuthorStates) {
  const TesseractDefinition definition =
      named("heat").version("1.2").describe("Warm.").apply(hand_back, "Hands back what it gets.");
  EXPECT_EQ(definition.name(), "heat");
  EXPECT_EQ(definition.version(), "1.2");
  EXPECT_EQ(definition.description(), "Warm.");
  EXPECT_EQ(definition.documentation(Endpoint::kApply), "Hands back what it gets.");
  EXPECT_TRUE(definition.has(Endpoint::kApply));
  EXPECT_FALSE(definition.has(Endpoint::kJacobian));
}

TEST(TesseractDefinitionTest, AcceptsNamesThatFitIntoAUrl) {
  for (const char* name : {"heat", "heat_2", "heat-2.1", "H"}) {
    EXPECT_EQ(refusal(named(name)), "") << name;
  }
}

TEST(TesseractDefinitionTest, RefusesNamesThatDoNot) {
  for (const char* name : {"", ".", "..", "a/b", "a b", "größe", "a%20"}) {
    EXPECT_NE(refusal(named(name)), "") << name;
  }
}

TEST(TesseractDefinitionTest, RefusesNamesOfRoutes) {
  for (const char* name : {"apply", "vector_jacobian_product", "health", "openapi.json", "docs", "metrics", "test"}) {
    EXPECT_NE(refusal(named(name)).find("route"), std::string::npos) << name;
  }
}

TEST(TesseractDefinitionTest, RefusesToBeWithoutApply) {
  EXPECT_NE(refusal(TesseractDefinition("heat")).find("apply"), std::string::npos);
}

TEST(TesseractDefinitionTest, RefusesSchemasThatClientsWouldNotFind) {
  EXPECT_NE(refusal(named("heat").inputs(Schema("Inputs"))).find("InputSchema"), std::string::npos);
  EXPECT_NE(refusal(named("heat").outputs(Schema("Outputs"))).find("OutputSchema"), std::string::npos);
}

TEST(TesseractDefinitionTest, RefusesGradientsOfNothing) {
  const auto gradient = [](const Object&, const PathSet&, const PathSet&, Context&) { return Object(); };
  const auto with = [&gradient](bool differentiable_input, bool differentiable_output) {
    return named("heat")
        .inputs(with_one_array("InputSchema", differentiable_input))
        .outputs(with_one_array("OutputSchema", differentiable_output))
        .jacobian(gradient);
  };
  EXPECT_EQ(refusal(with(true, true)), "");
  EXPECT_NE(refusal(with(false, true)).find("inputs"), std::string::npos);
  EXPECT_NE(refusal(with(true, false)).find("outputs"), std::string::npos);
}

}  // namespace
}  // namespace tessera
