#include "tessera/array/shape.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

constexpr std::int64_t kLarge = std::int64_t{1} << 40;

TEST(ShapeTest, CountsOneElementWithoutAxes) {
  EXPECT_EQ(element_count(Shape{}), 1);
}

TEST(ShapeTest, MultipliesSizes) {
  EXPECT_EQ(element_count(Shape{2, 3, 4}), 24);
  EXPECT_EQ(byte_count(Shape{2, 3, 4}, DType::kComplex128), 384U);
}

TEST(ShapeTest, CountsNothingWithAnEmptyAxis) {
  EXPECT_EQ(element_count(Shape{2, 0, 3}), 0);
  EXPECT_EQ(byte_count(Shape{0}, DType::kFloat64), 0U);
}

TEST(ShapeTest, RefusesNegativeSizes) {
  EXPECT_EQ(element_count(Shape{-1}), std::nullopt);
  EXPECT_EQ(element_count(Shape{0, -1}), std::nullopt);
}

TEST(ShapeTest, RefusesProductsThatDoNotFit) {
  EXPECT_EQ(element_count(Shape{kLarge, kLarge}), std::nullopt);
  EXPECT_EQ(byte_count(Shape{std::int64_t{1} << 62}, DType::kFloat64), std::nullopt);
}

TEST(ShapeTest, RefusesLargeAxesWhereverTheEmptyOneIs) {
  EXPECT_EQ(element_count(Shape{0, kLarge, kLarge}), std::nullopt);
  EXPECT_EQ(element_count(Shape{kLarge, kLarge, 0}), std::nullopt);
}

}  // namespace
}  // namespace tessera
