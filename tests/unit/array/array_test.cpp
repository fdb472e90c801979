#include "tessera/array/array.h"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>
#include <thread>

namespace tessera {
namespace {

TEST(ArrayTest, IsEmptyFloat64ByDefault) {
  const Array array;
  EXPECT_EQ(array.dtype(), DType::kFloat64);
  EXPECT_EQ(array.shape(), Shape{0});
  EXPECT_EQ(array.size(), 0);
  EXPECT_TRUE(array.values<double>().empty());
}

TEST(ArrayTest, HoldsElementsInOrder) {
  const Array array = Array::of<std::int32_t>({1, 2, 3});
  EXPECT_EQ(array.shape(), Shape{3});
  EXPECT_EQ(array.size_bytes(), 12U);
  EXPECT_EQ(array.values<std::int32_t>()[2], 3);
}

TEST(ArrayTest, HoldsOneElementWithoutAxes) {
  const Array array = Array::scalar(2.5F);
  EXPECT_EQ(array.rank(), 0U);
  EXPECT_EQ(array.item<float>(), 2.5F);
}

TEST(ArrayTest, ZerosAreZero) {
  const Array array = Array::zeros(DType::kUInt8, {2, 3});
  for (const std::uint8_t element : array.values<std::uint8_t>()) {
    EXPECT_EQ(element, 0);
  }
}

TEST(ArrayTest, SharesItsBufferUntilACopyIsWritten) {
  const Array original = Array::of<double>({1, 2});
  Array copy = original;
  EXPECT_EQ(copy.bytes().data(), original.bytes().data());
  copy.mutable_values<double>()[0] = 7;
  EXPECT_EQ(original.values<double>()[0], 1);
  EXPECT_EQ(copy.values<double>()[0], 7);
  EXPECT_EQ(copy.values<double>()[1], 2);
}

TEST(ArrayTest, WritesInPlaceWhenNotShared) {
  Array array = Array::of<double>({1, 2});
  const std::byte* const before = array.bytes().data();
  array.mutable_values<double>()[0] = 7;
  EXPECT_EQ(array.bytes().data(), before);
}

TEST(ArrayTest, WritesInPlaceAfterAnotherThreadDroppedItsCopy) {
  Array array = Array::of<double>({1, 2});
  const std::jthread reader([copy = array]() mutable {
    EXPECT_EQ(copy.values<double>()[0] + copy.values<double>()[1], 3);
    copy = Array();
  });
  while (!array.buffer().is_unique()) {
    std::this_thread::yield();
  }
  array.mutable_values<double>()[0] = 7;
  EXPECT_EQ(array.values<double>()[0], 7);
}

TEST(ArrayTest, RefusesToBeReadAsAnotherType) {
  const Array array = Array::of<double>({1});
  EXPECT_THROW((void)array.values<float>(), std::invalid_argument);
  EXPECT_THROW((void)array.item<std::int64_t>(), std::invalid_argument);
}

TEST(ArrayTest, RefusesToGiveOneOfSeveralElements) {
  EXPECT_THROW((void)Array::of<double>({1, 2}).item<double>(), std::invalid_argument);
  EXPECT_THROW((void)Array().item<double>(), std::invalid_argument);
}

TEST(ArrayTest, RefusesShapesThatCannotBeHeld) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  EXPECT_THROW((void)Array::allocate(DType::kInt8, {-1}), std::invalid_argument);
  EXPECT_THROW((void)Array::allocate(DType::kFloat64, {kHuge}), std::invalid_argument);
  EXPECT_THROW((void)Array::allocate(DType::kInt8, {kHuge, kHuge}), std::invalid_argument);
}

TEST(ArrayTest, RefusesElementsThatDoNotFillTheShape) {
  const std::vector<double> elements{1, 2, 3};
  EXPECT_THROW((void)Array::copy_of<double>(elements, {2}), std::invalid_argument);
  EXPECT_THROW((void)Array::copy_of<double>(elements, {2, 2}), std::invalid_argument);
}

TEST(ArrayTest, WrapsABufferWithoutCopying) {
  const Buffer buffer = Buffer::allocate(64);
  const Array array = Array::wrap(DType::kInt16, {4, 8}, buffer);
  EXPECT_EQ(array.bytes().data(), buffer.data());
  EXPECT_THROW((void)Array::wrap(DType::kInt16, {33}, buffer), std::invalid_argument);
}

TEST(ArrayTest, ReshapesWithoutCopying) {
  const Array array = Array::of<double>({1, 2, 3, 4});
  const Array square = array.reshaped({2, 2});
  EXPECT_EQ(square.shape(), (Shape{2, 2}));
  EXPECT_EQ(square.bytes().data(), array.bytes().data());
  EXPECT_THROW((void)array.reshaped({3}), std::invalid_argument);
  EXPECT_THROW((void)array.reshaped({-4}), std::invalid_argument);
}

TEST(ArrayTest, HasNoBytesInTheShapesOnlyForm) {
  Array array = Array::shape_only(DType::kFloat32, {2, 3});
  EXPECT_FALSE(array.has_data());
  EXPECT_EQ(array.size(), 6);
  EXPECT_TRUE(array.bytes().empty());
  EXPECT_TRUE(array.mutable_bytes().empty());
  EXPECT_THROW((void)array.values<float>(), std::invalid_argument);
  EXPECT_THROW((void)array.reshaped({6}), std::invalid_argument);
}

TEST(ArrayTest, TakesAnyShapeWithoutNegativeSizesInTheShapesOnlyForm) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 60;
  EXPECT_EQ(Array::shape_only(DType::kInt8, {kHuge, kHuge}).size(), std::numeric_limits<std::int64_t>::max());
  EXPECT_THROW((void)Array::shape_only(DType::kInt8, {2, -1}), std::invalid_argument);
}

}  // namespace
}  // namespace tessera
