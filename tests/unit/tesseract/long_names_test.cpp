// What long and deep names cost: an answer is no multiple of a request, whatever it holds.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "requests.h"

namespace tessera {
namespace {

using testing::echo_of;
using testing::read;
using testing::vector_of_float64;

constexpr std::size_t kLong = std::size_t{1} << 20;

TesseractDefinition closed() {
  return echo_of(Schema("InputSchema").field("d", dict_of(vector_of_float64().differentiable()), "", Object{}));
}

TesseractDefinition open() {
  return echo_of(Schema("InputSchema").field("d", dict_of(anything()), "", Object{}).allow_extra_keys());
}

/// The size of the 422 that a body gets, which must be one.
std::size_t answer_size(const TesseractDefinition& definition, Endpoint endpoint, const std::string& body) {
  const auto answer = read(definition, endpoint, body);
  const auto* problems = std::get_if<std::vector<Problem>>(&answer);
  EXPECT_NE(problems, nullptr) << body.substr(0, 100);
  return problems != nullptr ? problems_to_json(*problems).size() : 0;
}

std::string some(const std::string& value, int count) {
  std::string list = "[" + value;
  for (int i = 1; i < count; ++i) {
    list += "," + value;
  }
  return list + "]";
}

TEST(LongNamesTest, AreQuotedByTheirBeginning) {
  const std::string name(kLong, 'k');
  const std::string path = R"(["d.{)" + name + R"(}"])";
  const std::string buffer =
      R"({"shape":[1],"dtype":"float64","data":{"encoding":"binref","buffer":"a://)" + name + "\"}}";
  const std::pair<Endpoint, std::string> bodies[] = {
      {Endpoint::kApply, R"({"inputs":{"d":{"a":)" + buffer + "}}}"},
      {Endpoint::kApply, R"({"inputs":{")" + name + R"(":1}})"},
      {Endpoint::kApply, R"({"inputs":{},")" + name + R"(":1})"},
      {Endpoint::kApply, R"({"inputs":{"d":{")" + name + R"(":"x"}}})"},
      {Endpoint::kVectorJacobianProduct,
       R"({"inputs":{},"vjp_inputs":)" + path + R"(,"vjp_outputs":)" + path + R"(,"cotangent_vector":{"d.{x}":[1]}})"},
      {Endpoint::kVectorJacobianProduct, R"({"inputs":{"d":{"x":[1]}},"vjp_inputs":["d.{x}"],"vjp_outputs":)" + path +
                                             R"(,"cotangent_vector":{"d.{x}":[1]}})"}};
  for (const auto& [endpoint, body] : bodies) {
    EXPECT_LT(answer_size(closed(), endpoint, body), 10000U) << body.substr(0, 100);
  }
}

TEST(LongNamesTest, AreNotToldAnewForEachProblemBelowThem) {
  const std::string wrong = some(R"("\ud800")", 1100);
  EXPECT_LT(answer_size(open(), Endpoint::kApply, R"({"inputs":{")" + std::string(kLong, 'k') + "\":" + wrong + "}}"),
            std::size_t{5} << 20);
  std::string deep = wrong;
  for (int i = 0; i < 400; ++i) {
    deep.insert(0, R"({")" + std::string(2000, 'k') + "\":").push_back('}');
  }
  EXPECT_LT(answer_size(open(), Endpoint::kApply, R"({"inputs":{"d":)" + deep + "}}"), std::size_t{5} << 20);
}

}  // namespace
}  // namespace tessera
