// Every case of tests/vectors/coercion.json through a schema of one field: the whole item of the 422, or the array.

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "golden_file.h"
#include "requests.h"

namespace tessera {
namespace {

using nlohmann::json;

std::string base64_of(std::span<const std::byte> bytes) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned group = 0;
    for (std::size_t j = i; j < i + 3; ++j) {
      group = (group << 8U) | (j < bytes.size() ? std::to_integer<unsigned>(bytes[j]) : 0U);
    }
    for (unsigned digit = 0; digit < 4; ++digit) {
      text += i + digit <= bytes.size() ? kAlphabet[(group >> (18U - 6U * digit)) & 63U] : '=';
    }
  }
  return text;
}

Type type_of_case(const json& one) {
  std::optional<Shape> shape;
  if (one.at("shape") != "any") {
    shape.emplace();
    for (const json& size : one.at("shape")) {
      shape->push_back(size.is_null() ? kFreeAxis : size.get<std::int64_t>());
    }
  }
  const auto dtype =
      one.at("dtype").is_null() ? std::nullopt : find_dtype(one.at("dtype").get_ref<const std::string&>());
  if (dtype) {
    return shape ? array(*dtype, *shape) : array(*dtype);
  }
  return shape ? array_of_any_dtype(*shape) : array_of_any_dtype();
}

TEST(GoldenCoercionTest, EveryCaseComesOutAsUpstream) {
  const json golden = testing::golden("coercion.json");
  ASSERT_GT(golden.at("cases").size(), 180U);
  for (const json& one : golden.at("cases")) {
    if (one.contains("may_differ")) {
      continue;
    }
    const auto input = one.at("input").get<std::string>();
    const TesseractDefinition definition = testing::echo_of(Schema("InputSchema").field("v", type_of_case(one)));
    const std::string body = R"({"inputs":{"v":)" + input + "}}";
    SCOPED_TRACE(one.at("shape").dump() + " " + one.at("dtype").dump() + " " + input.substr(0, 200));
    if (one.contains("ok")) {
      const Call call = testing::call_of(definition, Endpoint::kApply, body);
      ASSERT_FALSE(call.inputs.is_empty());
      const Array& array = call.inputs["v"].array();
      EXPECT_EQ(name_of(array.dtype()), one.at("ok").at("dtype").get<std::string>());
      EXPECT_EQ(json(array.shape()), one.at("ok").at("shape"));
      EXPECT_EQ(base64_of(array.bytes()), one.at("ok").at("raw_base64").get<std::string>());
      continue;
    }
    const json items = testing::items_of(definition, Endpoint::kApply, body);
    ASSERT_EQ(items.size(), 1U);
    const json& wanted = one.at("error");
    EXPECT_EQ(items[0].at("type"), wanted.at("type"));
    EXPECT_EQ(items[0].at("loc"), (json{"body", "inputs", "v"}));
    if (!one.at("foreign_text").get<bool>()) {
      EXPECT_EQ(items[0].at("msg"), wanted.at("msg"));
      EXPECT_EQ(items[0].at("ctx"), wanted.at("ctx"));
    }
  }
}

}  // namespace
}  // namespace tessera
