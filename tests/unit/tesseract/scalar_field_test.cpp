// Values that are neither arrays nor containers, in pydantic's lax mode: every case was asked of pydantic 2.14.

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "requests.h"

namespace tessera {
namespace {

using nlohmann::json;
using testing::call_of;
using testing::echo_of;
using testing::items_of;

std::string body_of(std::string_view value) {
  return R"({"inputs":{"v":)" + std::string(value) + "}}";
}

Value taken(const Type& type, std::string_view value) {
  const Call call = call_of(echo_of(Schema("InputSchema").field("v", type)), Endpoint::kApply, body_of(value));
  return call.inputs.is_empty() ? Value() : call.inputs["v"];
}

json refused(const Type& type, std::string_view value) {
  const json items = items_of(echo_of(Schema("InputSchema").field("v", type)), Endpoint::kApply, body_of(value));
  return items.is_array() && !items.empty() ? items[0] : json::object();
}

struct Case {
  const char* value;
  const char* type;
};

TEST(IntegerFieldTest, TakesWhatPydanticTakes) {
  const std::pair<const char*, std::int64_t> cases[] = {{"7", 7},
                                                        {"7.0", 7},
                                                        {"1e18", 1000000000000000000},
                                                        {"true", 1},
                                                        {"false", 0},
                                                        {R"("7")", 7},
                                                        {R"(" 9 ")", 9},
                                                        {R"("+5")", 5},
                                                        {R"("7.0")", 7},
                                                        {R"("7.00")", 7},
                                                        {R"("-0")", 0},
                                                        {R"("007")", 7},
                                                        {R"("1_000")", 1000},
                                                        {R"("1_0.0")", 10},
                                                        {R"("-1.0")", -1},
                                                        {R"("\t5\n")", 5},
                                                        {R"("\u00a05")", 5},
                                                        {R"("0_0")", 0},
                                                        {R"(" 1_0 ")", 10},
                                                        {"-9223372036854775808", INT64_MIN},
                                                        {R"("-9223372036854775808")", INT64_MIN}};
  for (const auto& [value, wanted] : cases) {
    EXPECT_EQ(taken(integer(), value).integer(), wanted) << value;
  }
  EXPECT_EQ(taken(integer(), "18446744073709551615").unsigned_integer(), UINT64_MAX);
  EXPECT_EQ(taken(integer(), R"("9223372036854775808")").unsigned_integer(), 9223372036854775808U);
}

TEST(IntegerFieldTest, RefusesWhatPydanticRefuses) {
  const Case cases[] = {{R"("7.")", "int_parsing"},
                        {R"("1__0")", "int_parsing"},
                        {R"("_1")", "int_parsing"},
                        {R"("0x1")", "int_parsing"},
                        {R"("１")", "int_parsing"},
                        {R"("1.5")", "int_parsing"},
                        {R"("1e2")", "int_parsing"},
                        {R"("+-5")", "int_parsing"},
                        {R"("- 5")", "int_parsing"},
                        {R"("")", "int_parsing"},
                        {R"(" ")", "int_parsing"},
                        {R"(".0")", "int_parsing"},
                        {R"("1.0_0")", "int_parsing"},
                        {R"("inf")", "int_parsing"},
                        {R"("1.0.0")", "int_parsing"},
                        {"7.5", "int_from_float"},
                        {"1e300", "int_parsing_size"},
                        {"9.3e18", "int_parsing_size"},
                        {"NaN", "finite_number"},
                        {"Infinity", "finite_number"},
                        {"1e400", "finite_number"},
                        {"null", "int_type"},
                        {"[]", "int_type"},
                        {"{}", "int_type"},
                        {"18446744073709551616", "int_parsing_size"},
                        {R"("18446744073709551616")", "int_parsing_size"},
                        {R"("-9223372036854775809")", "int_parsing_size"}};
  for (const Case& one : cases) {
    EXPECT_EQ(refused(integer(), one.value).value("type", ""), one.type) << one.value;
  }
  EXPECT_EQ(refused(integer(), std::string(5000, '1')).value("type", ""), "int_parsing_size");
}

TEST(NumberFieldTest, TakesWhatPydanticTakes) {
  const std::pair<const char*, double> cases[] = {{"1", 1.0},
                                                  {R"("2.5")", 2.5},
                                                  {R"(" 2.5 ")", 2.5},
                                                  {R"("+1e5")", 1e5},
                                                  {R"("1_000.5")", 1000.5},
                                                  {"true", 1.0},
                                                  {R"(".5")", 0.5},
                                                  {R"("5.")", 5.0},
                                                  {R"("+.5")", 0.5},
                                                  {R"("1e5_0")", 1e50},
                                                  {R"("1_.5")", 1.5},
                                                  {R"("\u000b5")", 5.0},
                                                  {"9007199254740993", 9007199254740992.0},
                                                  {"18446744073709551616", 18446744073709551616.0},
                                                  {R"("1e-400")", 0.0},
                                                  {R"("0.0000001e8")", 10.0}};
  for (const auto& [value, wanted] : cases) {
    EXPECT_EQ(taken(number(), value).number(), wanted) << value;
  }
  for (const char* value : {R"("inf")", R"("Infinity")", R"("1e400")", R"("in_f")", "1e400", "Infinity"}) {
    EXPECT_EQ(taken(number(), value).number(), INFINITY) << value;
  }
  EXPECT_EQ(taken(number(), R"("-INF")").number(), -INFINITY);
  for (const char* value : {R"("nan")", R"("+NaN")", R"("-nan")", "NaN"}) {
    EXPECT_TRUE(std::isnan(taken(number(), value).number())) << value;
  }
}

TEST(NumberFieldTest, RefusesWhatPydanticRefuses) {
  const Case cases[] = {{R"("_1")", "float_parsing"},
                        {R"("1_")", "float_parsing"},
                        {R"("0x10")", "float_parsing"},
                        {R"("")", "float_parsing"},
                        {R"(" ")", "float_parsing"},
                        {R"("1e")", "float_parsing"},
                        {R"(".")", "float_parsing"},
                        {R"("infinit")", "float_parsing"},
                        {R"("1d5")", "float_parsing"},
                        {R"("１")", "float_parsing"},
                        {R"("\u001c5")", "float_parsing"},
                        {R"x("nan(1)")x", "float_parsing"},
                        {R"("1__0")", "float_parsing"},
                        {"null", "float_type"},
                        {"[]", "float_type"}};
  for (const Case& one : cases) {
    EXPECT_EQ(refused(number(), one.value).value("type", ""), one.type) << one.value;
  }
  EXPECT_EQ(refused(number(), std::string(400, '1')).value("type", ""), "float_type");
}

TEST(BooleanFieldTest, TakesWhatPydanticTakes) {
  for (const char* value :
       {"true", "1", "1.0", R"("yes")", R"("YES")", R"("y")", R"("t")", R"("True")", R"("on")", R"("1")"}) {
    EXPECT_TRUE(taken(boolean(), value).boolean()) << value;
  }
  for (const char* value : {"false", "0", "-0.0", R"("off")", R"("N")", R"("no")", R"("FALSE")", R"("f")", R"("0")"}) {
    EXPECT_FALSE(taken(boolean(), value).boolean()) << value;
  }
}

TEST(BooleanFieldTest, RefusesWhatPydanticRefuses) {
  const Case cases[] = {{"2", "bool_parsing"},
                        {"-1", "bool_parsing"},
                        {R"(" yes")", "bool_parsing"},
                        {R"("1.0")", "bool_parsing"},
                        {R"("")", "bool_parsing"},
                        {"2.0", "bool_parsing"},
                        {"0.5", "bool_type"},
                        {"null", "bool_type"},
                        {"[]", "bool_type"},
                        {"1e300", "bool_type"},
                        {"NaN", "bool_type"},
                        {"18446744073709551617", "bool_type"},
                        {"9223372036854775807", "bool_parsing"},
                        {"9223372036854775806", "bool_parsing"},
                        {"-9223372036854775808", "bool_parsing"},
                        {"9223372036854775808", "bool_type"},
                        {"-9223372036854775809", "bool_type"},
                        {"9223372036854775807.0", "bool_type"},
                        {"-9223372036854775808.0", "bool_type"},
                        {"9.2e18", "bool_parsing"}};
  for (const Case& one : cases) {
    EXPECT_EQ(refused(boolean(), one.value).value("type", ""), one.type) << one.value;
  }
}

TEST(BoundsTest, AreShownInTheTypeOfTheField) {
  const Type whole = integer().at_least(-5).below(1000);
  EXPECT_EQ(refused(whole, "1000").at("ctx").dump(), R"({"lt":1000})");
  EXPECT_EQ(refused(whole, "-6.0").at("ctx").dump(), R"({"ge":-5})");
  EXPECT_EQ(refused(whole, R"("5000")").at("type"), "less_than");
  const Type share = number().above(0.5).at_most(1e20);
  EXPECT_EQ(refused(share, "0.5").at("ctx"), (json{{"gt", 0.5}}));
  EXPECT_EQ(refused(share, "1e21").at("msg"), "Input should be less than or equal to 100000000000000000000");
  EXPECT_EQ(refused(number().above(0), "0").at("ctx").dump(), R"({"gt":0.0})");
  EXPECT_EQ(refused(number().above(0), "0").at("msg"), "Input should be greater than 0");
}

TEST(BoundsTest, AreBrokenByNaN) {
  EXPECT_EQ(refused(number().above(0.5).at_most(1), "NaN").at("type"), "less_than_equal");
  EXPECT_EQ(refused(number().above(0.5), "NaN").at("type"), "greater_than");
  EXPECT_EQ(refused(number().at_least(0), "-Infinity").at("type"), "greater_than_equal");
  EXPECT_EQ(refused(number().above(0.5), "NaN").at("input"), nullptr);
}

TEST(BoundsTest, CompareWholeNumbersExactly) {
  const Type type = integer().at_most(9007199254740992.0);
  EXPECT_EQ(taken(type, "9007199254740992").integer(), 9007199254740992);
  EXPECT_EQ(refused(type, "9007199254740993").at("type"), "less_than_equal");
}

TEST(TextFieldTest, TakesOnlyTexts) {
  EXPECT_EQ(taken(text(), R"("é\ud83d\ude00\u0000")").text(), std::string("é😀\0", 7));
  for (const char* value : {"1", "null", "true", R"(["a"])"}) {
    EXPECT_EQ(refused(text(), value).at("type"), "string_type") << value;
  }
}

TEST(TextFieldTest, CountsCharacters) {
  EXPECT_EQ(taken(text().max_length(5), R"("ééééé")").text(), "ééééé");
  const json item = refused(text().max_length(4), R"("ééééé")");
  EXPECT_EQ(item.at("type"), "string_too_long");
  EXPECT_EQ(item.at("ctx"), (json{{"max_length", 4}}));
  EXPECT_EQ(refused(text().min_length(2).pattern("^[A-Z]+$"), R"("a")").at("type"), "string_too_short");
  EXPECT_EQ(refused(text().min_length(2).pattern("^[A-Z]+$"), R"("abc")").at("ctx"), (json{{"pattern", "^[A-Z]+$"}}));
}

TEST(TextFieldTest, RefusesLoneSurrogatesReadably) {
  const auto answer = testing::read(echo_of(Schema("InputSchema").field("v", text())), Endpoint::kApply,
                                    R"({"inputs":{"v":"a\ud800"}})");
  const std::string items = problems_to_json(std::get<std::vector<Problem>>(answer));
  EXPECT_NE(items.find(R"("string_unicode")"), std::string::npos);
  EXPECT_NE(items.find(R"("input":"a\ud800")"), std::string::npos) << items;
}

TEST(ChoiceFieldTest, ComparesAsPythonDoes) {
  const Type type = choice({1, 2, "a"});
  EXPECT_EQ(taken(type, "2.0").kind(), Value::Kind::kInt);
  EXPECT_EQ(taken(type, "true").integer(), 1);
  EXPECT_EQ(taken(type, R"("a")").text(), "a");
  for (const char* value : {R"("1")", "4", "null", "[1]", "NaN", R"("A")", "1e300"}) {
    const json item = refused(type, value);
    EXPECT_EQ(item.at("type"), "literal_error") << value;
    EXPECT_EQ(item.at("msg"), "Input should be 1, 2 or 'a'");
    EXPECT_EQ(item.at("ctx"), (json{{"expected", "1, 2 or 'a'"}}));
  }
}

TEST(ChoiceFieldTest, RefusesIntegersBeyondInt64AsSuchWhereItHasIntegers) {
  for (const char* value : {"9223372036854775808", "-9223372036854775809", "18446744073709551617"}) {
    EXPECT_EQ(refused(choice({1, "a"}), value).at("type"), "int_parsing_size") << value;
    EXPECT_EQ(refused(choice({"a", "b"}), value).at("type"), "literal_error") << value;
  }
  for (const char* value : {"9223372036854775807", "-9223372036854775808", "1e30", R"("9223372036854775808")"}) {
    EXPECT_EQ(refused(choice({1, "a"}), value).at("type"), "literal_error") << value;
  }
}

TEST(EnumerationFieldTest, HasATypeOfItsOwn) {
  const Type type = enumeration("Colour", {"red", "green"});
  EXPECT_EQ(taken(type, R"("red")").text(), "red");
  EXPECT_EQ(refused(type, R"("RED")").at("type"), "enum");
  EXPECT_EQ(refused(type, "1").at("msg"), "Input should be 'red' or 'green'");
}

TEST(OptionalFieldTest, TakesNull) {
  EXPECT_TRUE(taken(integer().optional(), "null").is_null());
  EXPECT_TRUE(taken(array(DType::kInt8).optional(), "null").is_null());
  EXPECT_EQ(taken(integer().optional(), R"("5")").integer(), 5);
  EXPECT_EQ(refused(integer().optional(), "[]").at("type"), "int_type");
}

TEST(ListFieldTest, ChecksItsLengthFirst) {
  const Type type = list_of(integer()).min_length(1).max_length(2);
  EXPECT_EQ(refused(type, R"([1,"x",3,4,5])").at("ctx"),
            (json{{"field_type", "List"}, {"max_length", 2}, {"actual_length", 5}}));
  EXPECT_EQ(refused(type, "[]").at("msg"), "List should have at least 1 item after validation, not 0");
  EXPECT_EQ(refused(type, "{}").at("type"), "list_type");
  EXPECT_EQ(refused(type, R"([1,"x"])").at("loc"), (json{"body", "inputs", "v", 1}));
}

TEST(DictFieldTest, ChecksItsValuesFirst) {
  const Type type = dict_of(integer()).min_length(1).max_length(2);
  EXPECT_EQ(refused(type, R"({"a":1,"b":2,"c":3})").at("msg"),
            "Dictionary should have at most 2 items after validation, not 3");
  EXPECT_EQ(refused(type, R"({"a":"x","b":2,"c":3})").at("type"), "int_parsing");
  EXPECT_EQ(refused(type, "{}").at("type"), "too_short");
  EXPECT_EQ(refused(type, "[]").at("type"), "dict_type");
}

TEST(DictFieldTest, RefusesLoneSurrogatesInKeys) {
  const auto answer = testing::read(echo_of(Schema("InputSchema").field("v", dict_of(integer()))), Endpoint::kApply,
                                    R"({"inputs":{"v":{"\ud800":1}}})");
  const std::string items = problems_to_json(std::get<std::vector<Problem>>(answer));
  EXPECT_NE(items.find(R"("loc":["body","inputs","v","\ud800","[key]"])"), std::string::npos) << items;
}

TEST(AnyFieldTest, TakesAnything) {
  const Value value = taken(anything(), R"({"a":[1,-2.5,true,null,"x"],"a":[{"b":1e400}]})");
  EXPECT_EQ(value.object()["a"].list()[0].object()["b"].number(), INFINITY);
  EXPECT_TRUE(taken(anything(), "null").is_null());
}

}  // namespace
}  // namespace tessera
