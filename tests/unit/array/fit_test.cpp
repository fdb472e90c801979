#include "tessera/array/fit.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

using Kind = ArrayFault::Kind;

Array array_of(Shape shape) {
  Array array = Array::allocate(DType::kInt32, std::move(shape));
  std::int32_t next = 0;
  for (std::int32_t& element : array.mutable_values<std::int32_t>()) {
    element = next++;
  }
  return array;
}

std::vector<std::int32_t> elements_of(const Array& array) {
  const auto values = array.values<std::int32_t>();
  return {values.begin(), values.end()};
}

Array fitted(Array array, const ArraySpec& spec) {
  return std::get<Array>(fit(std::move(array), spec));
}

ArrayFault fault_of(Array array, const ArraySpec& spec) {
  return std::get<ArrayFault>(fit(std::move(array), spec));
}

// Element by element from the definition, to compare with.
std::vector<std::int32_t> stretched(const Array& array, const Shape& shape) {
  std::vector<std::int32_t> result;
  const std::int64_t count = element_count(shape).value_or(0);
  for (std::int64_t flat = 0; flat < count; ++flat) {
    std::int64_t rest = flat;
    std::int64_t place = 0;
    std::int64_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
      place += array.shape()[axis] == 1 ? 0 : rest % shape[axis] * stride;
      stride *= array.shape()[axis];
    }
    result.push_back(array.values<std::int32_t>()[static_cast<std::size_t>(place)]);
  }
  return result;
}

TEST(FitTest, CopiesNothingIfTheArrayIsAsDeclared) {
  const Array array = array_of({2, 3});
  for (const ArraySpec& spec : {ArraySpec{}, ArraySpec{DType::kInt32, std::nullopt},
                                ArraySpec{DType::kInt32, Shape{2, 3}}, ArraySpec{std::nullopt, Shape{kFreeAxis, 3}}}) {
    EXPECT_EQ(fitted(array, spec).bytes().data(), array.bytes().data());
  }
}

TEST(FitTest, RefusesAnotherRankFirst) {
  const ArrayFault fault = fault_of(array_of({}), {DType::kBool, Shape{kFreeAxis}});
  EXPECT_EQ(fault.kind, Kind::kDimensionality);
  EXPECT_EQ(fault.actual_shape.size(), 0U);
  EXPECT_EQ(fault.expected_shape.size(), 1U);
}

TEST(FitTest, RefusesSizesThatAreNeitherDeclaredNorOne) {
  const ArrayFault fault = fault_of(array_of({2, 2}), {DType::kBool, Shape{kFreeAxis, 3}});
  EXPECT_EQ(fault.kind, Kind::kShape);
  EXPECT_EQ(fault.actual_shape, (Shape{2, 2}));
  EXPECT_EQ(fault.expected_shape, (Shape{2, 3}));
}

TEST(FitTest, RefusesAnEmptyAxisWhereASizeIsDeclared) {
  EXPECT_EQ(fault_of(array_of({0}), {std::nullopt, Shape{3}}).kind, Kind::kShape);
  EXPECT_EQ(fault_of(array_of({0}), {std::nullopt, Shape{1}}).kind, Kind::kShape);
  EXPECT_EQ(fitted(array_of({0}), {std::nullopt, Shape{kFreeAxis}}).size(), 0);
}

TEST(FitTest, RefusesTypesThatCannotBeCast) {
  const ArrayFault fault = fault_of(array_of({3}), {DType::kBool, Shape{3}});
  EXPECT_EQ(fault.kind, Kind::kDType);
  EXPECT_EQ(fault.actual_dtype, DType::kInt32);
  EXPECT_EQ(fault.expected_dtype, DType::kBool);
}

TEST(FitTest, RefusesValuesThatDoNotFit) {
  const ArrayFault fault = fault_of(Array::of<std::int64_t>({1, 40000}), {DType::kInt16, Shape{kFreeAxis}});
  EXPECT_EQ(fault.kind, Kind::kOutOfRange);
  EXPECT_EQ(fault.expected_dtype, DType::kInt16);
  EXPECT_EQ(fault.value, "40000");
}

TEST(FitTest, CastsAndStretches) {
  const Array array = fitted(Array::of<std::int8_t>({7}), {DType::kInt32, Shape{4}});
  EXPECT_EQ(elements_of(array), (std::vector<std::int32_t>{7, 7, 7, 7}));
}

TEST(FitTest, StretchesToNothingWithoutLookingAtTheValue) {
  const Array array = fitted(Array::of<std::int32_t>({1000}), {DType::kInt8, Shape{0}});
  EXPECT_EQ(array.dtype(), DType::kInt8);
  EXPECT_EQ(array.shape(), Shape{0});
}

TEST(FitTest, FitsShapesWithoutData) {
  const Array array = fitted(Array::shape_only(DType::kInt64, {1, 3}), {DType::kFloat32, Shape{2, kFreeAxis}});
  EXPECT_FALSE(array.has_data());
  EXPECT_EQ(array.dtype(), DType::kFloat32);
  EXPECT_EQ(array.shape(), (Shape{2, 3}));
  EXPECT_EQ(fault_of(Array::shape_only(DType::kInt64, {4}), {std::nullopt, Shape{3}}).kind, Kind::kShape);
}

TEST(BroadcastTest, RepeatsAlongEveryAxisOfSizeOne) {
  const Shape full{2, 3, 4};
  for (unsigned mask = 0; mask < 8; ++mask) {
    Shape shape = full;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      shape[axis] = (mask >> axis & 1U) != 0 ? 1 : shape[axis];
    }
    const Array array = array_of(shape);
    EXPECT_EQ(elements_of(broadcast(array, full)), stretched(array, full)) << mask;
  }
}

TEST(BroadcastTest, RepeatsSmallAndLargeBlocks) {
  for (const std::int64_t inner : {1, 7, 50000}) {
    const Array array = array_of({1, inner});
    const Shape shape{1300000 / (inner * 4), inner};
    EXPECT_EQ(elements_of(broadcast(array, shape)), stretched(array, shape)) << inner;
  }
  const Array column = array_of({300, 1});
  EXPECT_EQ(elements_of(broadcast(column, {300, 500})), stretched(column, {300, 500}));
}

TEST(BroadcastTest, GivesNothingForAnEmptyShape) {
  EXPECT_EQ(broadcast(array_of({1, 3}), {0, 3}).size(), 0);
  EXPECT_EQ(broadcast(array_of({1, 0}), {5, 0}).shape(), (Shape{5, 0}));
}

}  // namespace
}  // namespace tessera
