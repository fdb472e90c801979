#include "tessera/array/value.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace tessera {
namespace {

Object object_of(int size) {
  Object object;
  for (int i = 0; i < size; ++i) {
    object.set("key" + std::to_string(i), i);
  }
  return object;
}

TEST(ValueTest, KnowsItsKind) {
  EXPECT_EQ(Value().kind(), Value::Kind::kNull);
  EXPECT_EQ(Value(nullptr).kind(), Value::Kind::kNull);
  EXPECT_EQ(Value(true).kind(), Value::Kind::kBool);
  EXPECT_EQ(Value(1).kind(), Value::Kind::kInt);
  EXPECT_EQ(Value(1U).kind(), Value::Kind::kInt);
  EXPECT_EQ(Value(1.0).kind(), Value::Kind::kDouble);
  EXPECT_EQ(Value("text").kind(), Value::Kind::kText);
  EXPECT_EQ(Value(List{1, "two"}).kind(), Value::Kind::kList);
  EXPECT_EQ(Value(Object()).kind(), Value::Kind::kObject);
  EXPECT_EQ(Value(Array()).kind(), Value::Kind::kArray);
}

TEST(ValueTest, HoldsUnsignedIntegersExactly) {
  EXPECT_EQ(Value(5UL).kind(), Value::Kind::kInt);
  const Value large(std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(large.kind(), Value::Kind::kUInt);
  EXPECT_EQ(large.unsigned_integer(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_THROW((void)large.integer(), ValueError);
  EXPECT_EQ(Value(0x7fffffffffffffffUL).kind(), Value::Kind::kInt);
}

TEST(ValueTest, RefusesNegativeNumbersAsUnsigned) {
  EXPECT_EQ(Value(3).unsigned_integer(), 3U);
  EXPECT_THROW((void)Value(-3).unsigned_integer(), ValueError);
}

TEST(ValueTest, GivesEveryNumberAsDouble) {
  EXPECT_EQ(Value(-3).number(), -3.0);
  EXPECT_EQ(Value(1UL << 63U).number(), 0x1p63);
  EXPECT_EQ(Value(0.5).number(), 0.5);
  EXPECT_THROW((void)Value(true).number(), ValueError);
  EXPECT_FALSE(Value(true).is_number());
}

TEST(ValueTest, ThrowsForAnotherKindAndSaysWhich) {
  try {
    (void)Value("x").list();
    FAIL() << "a text was given as a list";
  } catch (const ValueError& error) {
    EXPECT_STREQ(error.what(), "value is a text, not a list");
  }
  EXPECT_THROW((void)Value().boolean(), ValueError);
  EXPECT_THROW((void)Value(1).text(), ValueError);
  EXPECT_THROW((void)Value(1).object(), ValueError);
  EXPECT_THROW((void)Value(1).array(), ValueError);
  EXPECT_THROW((void)Value(1.0).integer(), ValueError);
}

TEST(ValueTest, CopiesDeeply) {
  Value original(Object{{"inner", Object{{"number", 1}}}});
  const Value copy = original;
  original.object().find("inner")->object().set("number", 2);
  EXPECT_EQ(copy.object()["inner"].object()["number"].integer(), 1);
}

TEST(ObjectTest, KeepsTheOrderOfInsertion) {
  Object object{{"z", 1}, {"a", 2}};
  object.set("m", 3);
  object.set("z", 4);
  ASSERT_EQ(object.size(), 3U);
  EXPECT_EQ(object.members()[0].key, "z");
  EXPECT_EQ(object.members()[0].value.integer(), 4);
  EXPECT_EQ(object.members()[2].key, "m");
}

TEST(ObjectTest, FindsNothingForAnUnknownKey) {
  const Object object{{"a", 1}};
  EXPECT_EQ(object.find("b"), nullptr);
  EXPECT_THROW((void)object.at("b"), ValueError);
  EXPECT_TRUE(Object().is_empty());
}

TEST(ObjectTest, KnowsWhichMembersAreDefaults) {
  Object object;
  object.set_default("a", 1);
  object.set("b", 2);
  EXPECT_FALSE(object.is_given("a"));
  EXPECT_TRUE(object.is_given("b"));
  EXPECT_FALSE(object.is_given("c"));
  object.set("a", 3);
  EXPECT_TRUE(object.is_given("a"));
}

TEST(ObjectTest, FindsEachOfManyKeys) {
  const Object object = object_of(500);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(object.at("key" + std::to_string(i)).integer(), i);
  }
  EXPECT_EQ(object.find("key500"), nullptr);
}

TEST(ObjectTest, ReplacesOneOfManyInItsPlace) {
  Object object = object_of(100);
  object.set("key50", "new");
  EXPECT_EQ(object.size(), 100U);
  EXPECT_EQ(object.members()[50].value.text(), "new");
}

TEST(ObjectTest, FindsTheRestAfterARemoval) {
  for (const int size : {5, 100}) {
    Object object = object_of(size);
    EXPECT_TRUE(object.remove("key2"));
    EXPECT_FALSE(object.remove("key2"));
    EXPECT_EQ(object.size(), static_cast<std::size_t>(size) - 1);
    EXPECT_EQ(object["key1"].integer(), 1);
    EXPECT_EQ(object["key4"].integer(), 4);
  }
}

TEST(ObjectTest, RemovesByAViewOfItsOwnKey) {
  Object object = object_of(40);
  EXPECT_TRUE(object.remove(object.members()[3].key));
  EXPECT_EQ(object.find("key3"), nullptr);
}

TEST(ObjectTest, CopiesAndMovesManyMembers) {
  Object object = object_of(40);
  Object copy = object;
  copy.set("key1", "changed");
  copy.set("more", true);
  EXPECT_EQ(object["key1"].integer(), 1);
  EXPECT_EQ(object.find("more"), nullptr);
  const Object moved = std::move(object);
  EXPECT_EQ(moved["key39"].integer(), 39);
  copy = moved;
  EXPECT_EQ(copy["key1"].integer(), 1);
}

}  // namespace
}  // namespace tessera
