#include "tessera/tesseract/path.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "golden_file.h"

namespace tessera {
namespace {

using testing::golden;

nlohmann::json steps_of(const std::vector<PathStep>& path) {
  nlohmann::json steps = nlohmann::json::array();
  for (const PathStep& step : path) {
    if (const auto* field = std::get_if<FieldStep>(&step)) {
      steps.push_back({"getattr", field->name});
    } else if (const auto* item = std::get_if<ItemStep>(&step)) {
      steps.push_back({"seq", item->position});
    } else {
      steps.push_back({"dict", std::get<KeyStep>(step).key});
    }
  }
  return steps;
}

TEST(GoldenPathTest, IsReadAsTheVectorsSay) {
  const nlohmann::json cases = golden("grammar.json").at("gradient_path");
  ASSERT_FALSE(cases.empty());
  for (const nlohmann::json& one : cases) {
    const auto steps = parse_path(one.at("path").get<std::string>());
    if (one.contains("error")) {
      EXPECT_FALSE(steps.has_value()) << one;
    } else {
      EXPECT_EQ(steps_of(steps.value_or(std::vector<PathStep>())), one.at("steps"));
    }
  }
}

TEST(PathTest, WithAPositionThatNoListHasIsNone) {
  EXPECT_FALSE(parse_path("l.[99999999999999999999999999]").has_value());
}

TEST(GoldenPathTest, TemplatesMatchWhatTheVectorsSay) {
  const nlohmann::json cases = golden("grammar.json").at("gradient_path_pattern");
  ASSERT_FALSE(cases.empty());
  for (const nlohmann::json& one : cases) {
    const auto path_template = one.at("template").get<std::string>();
    EXPECT_EQ(is_pattern(path_template), !one.at("literal").get<bool>()) << path_template;
    if (is_pattern(path_template)) {
      EXPECT_EQ(pattern_of(path_template), one.at("pattern").get<std::string>());
    }
    for (const nlohmann::json& path : one.at("accepts")) {
      EXPECT_TRUE(matches(path_template, path.get<std::string>())) << path_template << " " << path;
    }
    for (const nlohmann::json& path : one.at("refuses")) {
      EXPECT_FALSE(matches(path_template, path.get<std::string>())) << path_template << " " << path;
    }
  }
}

TEST(PathTemplateTest, MatchesTheWholePath) {
  EXPECT_FALSE(matches("named.{}", "named.{k}x"));
  EXPECT_FALSE(matches("named.{}", "named.{k"));
  EXPECT_FALSE(matches("named.{}", "named.{k\\"));
  EXPECT_FALSE(matches("layers.[].weights", "layers.[0].weightsx"));
  EXPECT_FALSE(matches("layers.[].weights", "layers.[0]"));
}

TEST(GoldenPathTest, WritesKeysAsTheVectorsSay) {
  const nlohmann::json cases = golden("grammar.json").at("dict_key_escape");
  ASSERT_FALSE(cases.empty());
  for (const nlohmann::json& one : cases) {
    EXPECT_EQ(escape_key(one.at("key").get<std::string>()), one.at("escaped").get<std::string>());
  }
}

Object small_tree() {
  return Object{{"a", Object{{"b", Array::of<double>({1, 2})}}},
                {"l", List{Array::of<double>({3}), Object{{"w", Array::of<double>({4})}}}},
                {"d", Object{{"b.c", Array::of<double>({5})}, {"x{y", Array::of<double>({6})}}},
                {"n", nullptr}};
}

TEST(FindAtTest, FollowsNamesPositionsAndKeys) {
  const Object inputs = small_tree();
  const auto first = [&inputs](std::string_view path) { return array_at(inputs, path).values<double>()[0]; };
  EXPECT_EQ(first("a.b"), 1.0);
  EXPECT_EQ(first("l.[0]"), 3.0);
  EXPECT_EQ(first("l.[1].w"), 4.0);
  EXPECT_EQ(first("d.{b.c}"), 5.0);
  EXPECT_EQ(first(R"(d.{x\{y})"), 6.0);
}

TEST(FindAtTest, FindsNothingWhereNothingIs) {
  const Object inputs = small_tree();
  for (const char* path : {"", "z", "a.z", "a.b.c", "l.[2]", "l.[0].w", "d.{zz}", "n.x", "[0]", "l.{0}"}) {
    EXPECT_EQ(find_at(inputs, path), nullptr) << path;
  }
}

TEST(ArrayAtTest, NamesThePathThatHasNoArray) {
  const Object inputs = small_tree();
  try {
    static_cast<void>(array_at(inputs, "d.{zz}"));
    FAIL();
  } catch (const ValueError& error) {
    EXPECT_NE(std::string(error.what()).find("d.{zz}"), std::string::npos);
  }
  EXPECT_THROW(static_cast<void>(array_at(inputs, "n")), ValueError);
}

}  // namespace
}  // namespace tessera
