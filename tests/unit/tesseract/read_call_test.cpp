// Bodies of apply: what is wrong with them, where, and in which order.

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "requests.h"

namespace tessera {
namespace {

using nlohmann::json;
using testing::call_of;
using testing::echo_of;
using testing::items_of;
using testing::read;
using testing::vector_of_float64;

Schema layers_schema() {
  Schema layer("Layer");
  layer.field("weights", array(DType::kFloat32, {kFreeAxis, 3})).field("tag", text(), "", "dense");
  Schema open("Open");
  open.field("known", integer(), "", 0).allow_extra_keys();
  return Schema("InputSchema")
      .field("x", vector_of_float64())
      .field("layers", list_of(object(layer)), "", List{})
      .field("named", dict_of(vector_of_float64()), "", Object{})
      .field("steps", integer().at_most(10), "", 1)
      .field("open", object(open).optional(), "", nullptr);
}

json items(std::string_view body) {
  return items_of(echo_of(layers_schema()), Endpoint::kApply, body);
}

/// The types and places of all items, without "body".
json found(std::string_view body) {
  json all = json::array();
  for (json item : items(body)) {
    json one = json::array({item.at("type")});
    for (std::size_t i = 1; i < item.at("loc").size(); ++i) {
      one.push_back(item.at("loc")[i]);
    }
    all.push_back(one);
  }
  return all;
}

Object inputs_of(std::string_view body) {
  return call_of(echo_of(layers_schema()), Endpoint::kApply, body).inputs;
}

TEST(ReadCallTest, SaysThatABodyIsMissing) {
  const json missing = {{{"type", "missing"}, {"loc", {"body"}}, {"msg", "Field required"}, {"input", nullptr}}};
  EXPECT_EQ(items(""), missing);
  EXPECT_EQ(items(" null\n"), missing);
}

TEST(ReadCallTest, SaysWhereABodyIsNoJson) {
  EXPECT_EQ(items(R"({"inputs":{"x":[1,2])"), (json{{{"type", "json_invalid"},
                                                     {"loc", {"body", 20}},
                                                     {"msg", "JSON decode error"},
                                                     {"input", json::object()},
                                                     {"ctx", {{"error", "Expecting ',' delimiter"}}}}}));
  EXPECT_EQ(found(R"({"inputs":{"x":[1]}} x)"), json::parse(R"([["json_invalid",21]])"));
  EXPECT_EQ(found("  "), json::parse(R"([["json_invalid",2]])"));
}

TEST(ReadCallTest, ReportsNoOtherProblemWhereABodyIsNoJson) {
  EXPECT_EQ(found(R"({"inputs":{"x":"no","zz":1},"more":1)"), json::parse(R"([["json_invalid",36]])"));
}

TEST(ReadCallTest, RefusesBodiesThatAreNoObject) {
  EXPECT_EQ(items("[1]")[0].at("type"), "model_attributes_type");
  EXPECT_EQ(items("[1]")[0].at("loc"), (json{"body"}));
  EXPECT_EQ(items("[1]")[0].at("input"), (json{1}));
  EXPECT_EQ(items(R"("x")")[0].at("input"), "x");
}

TEST(ReadCallTest, RefusesInputsThatAreNoObject) {
  for (const char* inputs : {"null", "[1]", "5", R"("x")", "true"}) {
    EXPECT_EQ(found(std::string(R"({"inputs":)") + inputs + "}"),
              json::parse(R"([["model_attributes_type","inputs"]])"))
        << inputs;
  }
}

TEST(ReadCallTest, SaysThatInputsAreMissing) {
  EXPECT_EQ(
      items("{}"),
      (json{{{"type", "missing"}, {"loc", {"body", "inputs"}}, {"msg", "Field required"}, {"input", json::object()}}}));
}

TEST(ReadCallTest, ShowsTheObjectThatAFieldIsMissingFrom) {
  const json item = items(R"({"inputs":{"steps":2}})")[0];
  EXPECT_EQ(item.at("loc"), (json{"body", "inputs", "x"}));
  EXPECT_EQ(item.at("input"), (json{{"steps", 2}}));
}

TEST(ReadCallTest, ReportsProblemsInTheOrderOfTheSchemaAndUnknownKeysLast) {
  EXPECT_EQ(found(R"({"zz":1,"inputs":{"more":1,"steps":11,"named":{"a":"x","b":[1],"c":[[1]]},"x":"no"}})"),
            json::parse(R"([["array_non_numeric","inputs","x"],
["array_non_numeric","inputs","named","a"],
["array_dimensionality_mismatch","inputs","named","c"],
["less_than_equal","inputs","steps"],
["extra_forbidden","inputs","more"],
["extra_forbidden","zz"]])"));
}

TEST(ReadCallTest, ReportsNestedProblemsAtTheirOwnPlace) {
  EXPECT_EQ(found(R"({"inputs":{"x":[1],"layers":[{"weights":[[1,2,3]]},{"weights":[[1,2]],"size":1},{},5]}})"),
            json::parse(R"([["array_shape_mismatch","inputs","layers",1,"weights"],
["extra_forbidden","inputs","layers",1,"size"],
["missing","inputs","layers",2,"weights"],
["model_attributes_type","inputs","layers",3]])"));
}

TEST(ReadCallTest, TakesTheLastOfTwoValuesOfAKey) {
  EXPECT_EQ(inputs_of(R"({"inputs":{"x":"no"},"inputs":{"x":"no","steps":99,"x":[3],"steps":2}})")["steps"].integer(),
            2);
  EXPECT_EQ(found(R"({"inputs":{"x":[1],"x":"no"}})"), json::parse(R"([["array_non_numeric","inputs","x"]])"));
  const Object named = inputs_of(R"({"inputs":{"x":[1],"named":{"a":"no","b":[2],"a":[3]}}})")["named"].object();
  EXPECT_EQ(named["a"].array().values<double>()[0], 3.0);
  EXPECT_EQ(items(R"({"inputs":{"x":[1],"z":1,"y":2,"z":3}})").dump(),
            items(R"({"inputs":{"x":[1],"z":3,"y":2}})").dump());
}

TEST(ReadCallTest, FillsInDefaultsAndKnowsThem) {
  const Object inputs = inputs_of(R"({"inputs":{"layers":[{"weights":[[1,2,3]]}],"x":[1,2]}})");
  std::vector<std::string> keys;
  for (const Object::Member& member : inputs.members()) {
    keys.push_back(member.key);
  }
  EXPECT_EQ(keys, (std::vector<std::string>{"x", "layers", "named", "steps", "open"}));
  EXPECT_TRUE(inputs.is_given("layers"));
  EXPECT_FALSE(inputs.is_given("steps"));
  EXPECT_EQ(inputs["layers"].list()[0].object()["tag"].text(), "dense");
  EXPECT_FALSE(inputs["layers"].list()[0].object().is_given("tag"));
}

TEST(ReadCallTest, HandsOnKeysThatAnOpenSchemaDoesNotName) {
  const Object open =
      inputs_of(
          R"({"inputs":{"x":[1],"open":{"b":[1,{"y":null}],"known":"5","a":1.5,"c":18446744073709551615}}})")["open"]
          .object();
  EXPECT_EQ(open["known"].integer(), 5);
  EXPECT_TRUE(open["b"].list()[1].object()["y"].is_null());
  EXPECT_EQ(open["a"].number(), 1.5);
  EXPECT_EQ(open["c"].unsigned_integer(), 18446744073709551615U);
}

TEST(ReadCallTest, RefusesWholeNumbersBeyond64BitsWithoutAType) {
  const std::string nines(400, '9');
  for (const std::string& number :
       {nines, "-" + nines, std::string("18446744073709551616"), std::string("-9223372036854775809")}) {
    EXPECT_EQ(found(R"({"inputs":{"x":[1],"open":{"z":)" + number + "}}}"),
              json::parse(R"([["int_parsing_size","inputs","open","z"]])"));
    EXPECT_EQ(found(R"({"inputs":{"x":[1],"open":{"z":[0,{"y":)" + number + "}]}}}"),
              json::parse(R"([["int_parsing_size","inputs","open","z",1,"y"]])"));
  }
  const Object open = inputs_of(R"({"inputs":{"x":[1],"open":{"a":1e400,"b":-9223372036854775808}}})")["open"].object();
  EXPECT_EQ(open["a"].number(), HUGE_VAL);
  EXPECT_EQ(open["b"].integer(), INT64_MIN);
  const TesseractDefinition any = echo_of(Schema("InputSchema").field("a", anything()));
  EXPECT_EQ(items_of(any, Endpoint::kApply, R"({"inputs":{"a":)" + nines + "}}")[0].at("type"), "int_parsing_size");
}

/// The places of what is no text in `open`, without "body" and "inputs"; the other JSON readers refuse to show it.
std::vector<Place> untexts(const std::string& open) {
  const auto answer = read(echo_of(layers_schema()), Endpoint::kApply, R"({"inputs":{"x":[1],"open":)" + open + "}}");
  std::vector<Place> places;
  if (const auto* problems = std::get_if<std::vector<Problem>>(&answer)) {
    for (const Problem& problem : *problems) {
      EXPECT_EQ(problem.kind, Problem::Kind::kStringUnicode);
      places.emplace_back(problem.place.begin() + 2, problem.place.end());
    }
  }
  return places;
}

TEST(ReadCallTest, RefusesLoneSurrogatesWithoutAType) {
  const std::string half = "\xED\xA0\x80";
  EXPECT_EQ(untexts(R"({"z":"\ud800","y":["\ud800"]})"),
            (std::vector<Place>{{"open", "z"}, {"open", "y", std::int64_t{0}}}));
  EXPECT_EQ(untexts(R"({"z":{"\ud800":1}})"), (std::vector<Place>{{"open", "z", half, "[key]"}}));
  EXPECT_EQ(untexts(R"({"\ud800":1})"), (std::vector<Place>{{"open", half, "[key]"}}));
  EXPECT_EQ(inputs_of(R"({"inputs":{"x":[1],"open":{"z":"\ud83d\ude00"}}})")["open"].object()["z"].text(), "😀");
}

TEST(ReadCallTest, CountsTheLastOfAKeyThatNoFieldNames) {
  EXPECT_TRUE(untexts(R"({"z":"\ud800","z":1})").empty());
  EXPECT_TRUE(untexts(R"({"z":{"y":"\ud800","y":1}})").empty());
  EXPECT_EQ(untexts(R"({"z":1,"z":"\ud800"})").size(), 1U);
}

TEST(ReadCallTest, ChecksRulesWhenEveryFieldIsRight) {
  Schema schema("InputSchema");
  schema.field("a", integer())
      .field("b", integer(), "", 1)
      .rule([](const Object& object) -> std::optional<std::string> {
        if (object["a"].integer() < object["b"].integer()) {
          return "a is below b";
        }
        return std::nullopt;
      });
  const TesseractDefinition definition = echo_of(schema);
  static_cast<void>(call_of(definition, Endpoint::kApply, R"({"inputs":{"a":1}})"));
  const json item = items_of(definition, Endpoint::kApply, R"({"inputs":{"a":0}})")[0];
  EXPECT_EQ(item.at("loc"), (json{"body", "inputs"}));
  EXPECT_EQ(item.at("msg"), "Value error, a is below b");
  EXPECT_EQ(item.at("input"), (json{{"a", 0}}));
  EXPECT_EQ(items_of(definition, Endpoint::kApply, R"({"inputs":{"a":"x","b":7}})").size(), 1U);
}

TEST(ReadCallTest, SurvivesARuleThatThrows) {
  Schema schema("InputSchema");
  schema.field("a", anything()).rule([](const Object& object) -> std::optional<std::string> {
    return object["a"].text();
  });
  EXPECT_EQ(items_of(echo_of(schema), Endpoint::kApply, R"({"inputs":{"a":1}})")[0].at("type"), "value_error");
}

TEST(ReadCallTest, RefusesTheNestingThatTheScannerRefuses) {
  const std::string deep = std::string(100000, '[') + std::string(100000, ']');
  const std::string body = R"({"inputs":{"x":[1],"open":{"a":)" + deep + "}}}";
  const auto answer = read(echo_of(layers_schema()), Endpoint::kApply, body);
  ASSERT_TRUE(std::holds_alternative<JsonFault>(answer));
  EXPECT_EQ(std::get<JsonFault>(answer).kind, JsonFault::Kind::kTooDeep);
}

TEST(ReadCallTest, RefusesBytesThatAreNotUtf8) {
  const auto answer =
      read(echo_of(layers_schema()), Endpoint::kApply, "{\"inputs\":{\"x\":[1],\"open\":{\"a\":\"\xff\"}}}");
  ASSERT_TRUE(std::holds_alternative<JsonFault>(answer));
  EXPECT_EQ(std::get<JsonFault>(answer).kind, JsonFault::Kind::kNotUtf8);
}

TEST(ReadCallTest, IsQuickAndBriefAboutManyProblems) {
  std::string body = R"({"inputs":{"x":[1],"named":{)";
  for (int i = 0; i < 100000; ++i) {
    body += (i == 0 ? R"("k)" : R"(,"k)") + std::to_string(i) + R"(":"x")";
  }
  body += "}";
  for (int i = 0; i < 100000; ++i) {
    body += R"(,"u)" + std::to_string(i) + R"(":1)";
  }
  body += "}}";
  // Quadratic work would take minutes; the bound leaves room for sanitizers on a busy machine.
  const auto start = std::chrono::steady_clock::now();
  const auto answer = read(echo_of(layers_schema()), Endpoint::kApply, body);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(30));
  EXPECT_LE(std::get<std::vector<Problem>>(answer).size(), 1000U);
}

TEST(ReadCallTest, ForgetsNoProblemAmongMoreThanAreKept) {
  std::string members;
  for (int i = 0; i < 1100; ++i) {
    members += R"("k)" + std::to_string(i) + R"(":"x",)";
  }
  for (int i = 0; i < 1000; ++i) {
    members += R"("k)" + std::to_string(i) + R"(":[1],)";
  }
  members.pop_back();
  EXPECT_FALSE(items(R"({"inputs":{"x":[1],"named":{)" + members + "}}}").empty());
}

TEST(NotCalledJsonTest, ShowsTheBodyAsAText) {
  const json item = json::parse(problems_to_json(not_called_json(R"({"inputs": 1})"))).at("detail").at(0);
  EXPECT_EQ(item.at("type"), "model_attributes_type");
  EXPECT_EQ(item.at("input"), R"({"inputs": 1})");
  EXPECT_EQ(json::parse(problems_to_json(not_called_json(""))).at("detail").at(0).at("type"), "missing");
  EXPECT_LT(problems_to_json(not_called_json(std::string(1000000, 'x'))).size(), 1000U);
}

}  // namespace
}  // namespace tessera
