#include "pack_plan.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <vector>

namespace tessera {
namespace {

using Numbers = std::vector<std::int64_t>;

// A strided array in host memory, packed as the plan says, and element by element.
class Packing {
 public:
  Packing(std::size_t item_size_bytes, Numbers shape, Numbers strides_bytes)
      : item_size_(item_size_bytes), shape_(std::move(shape)), strides_(std::move(strides_bytes)) {
    std::int64_t lowest = 0;
    std::int64_t highest = 0;
    std::size_t elements = 1;
    for (std::size_t i = 0; i != shape_.size(); ++i) {
      const std::int64_t last = (shape_[i] - 1) * strides_[i];
      (last < 0 ? lowest : highest) += last;
      elements *= static_cast<std::size_t>(shape_[i]);
    }
    source_.resize(static_cast<std::size_t>(highest - lowest) + item_size_);
    for (std::size_t i = 0; i != source_.size(); ++i) {
      source_[i] = static_cast<unsigned char>(i * 7 + i / 251);
    }
    first_ = -lowest;
    target_.assign(elements * item_size_, 0xEE);
  }

  [[nodiscard]] std::vector<unsigned char> by_plan() {
    const Result<PackPlan> plan = PackPlan::make(item_size_, shape_, strides_);
    EXPECT_TRUE(plan.has_value());
    const Status done = plan->for_each([this](const RowCopy& rows) {
      ++copies_;
      copy(rows);
      return Status();
    });
    EXPECT_TRUE(done.has_value());
    return target_;
  }

  [[nodiscard]] std::vector<unsigned char> by_element() const {
    std::vector<unsigned char> packed;
    append(packed, 0, first_);
    return packed;
  }

  [[nodiscard]] int copies() const { return copies_; }

 private:
  void copy(const RowCopy& rows) {
    const std::vector<unsigned char>& from = rows.is_within_target ? target_ : source_;
    const std::int64_t begin = rows.source_offset_bytes + (rows.is_within_target ? 0 : first_);
    if (rows.height > 1) {
      EXPECT_GE(rows.source_pitch_bytes, rows.width_bytes);
      EXPECT_GE(rows.target_pitch_bytes, rows.width_bytes);
    }
    for (std::size_t row = 0; row != rows.height; ++row) {
      const std::size_t at = static_cast<std::size_t>(begin) + row * rows.source_pitch_bytes;
      const std::size_t to = static_cast<std::size_t>(rows.target_offset_bytes) + row * rows.target_pitch_bytes;
      ASSERT_LE(at + rows.width_bytes, from.size());
      ASSERT_LE(to + rows.width_bytes, target_.size());
      std::memcpy(target_.data() + to, from.data() + at, rows.width_bytes);
    }
  }

  void append(std::vector<unsigned char>& packed, std::size_t axis, std::int64_t at) const {
    if (axis == shape_.size()) {
      const auto begin = source_.begin() + at;
      packed.insert(packed.end(), begin, begin + static_cast<std::ptrdiff_t>(item_size_));
      return;
    }
    for (std::int64_t i = 0; i != shape_[axis]; ++i) {
      append(packed, axis + 1, at + i * strides_[axis]);
    }
  }

  std::size_t item_size_;
  Numbers shape_;
  Numbers strides_;
  std::vector<unsigned char> source_;
  std::vector<unsigned char> target_;
  std::int64_t first_ = 0;
  int copies_ = 0;
};

void expect_packs(std::size_t item_size_bytes, const Numbers& shape, const Numbers& strides_bytes, int copies) {
  Packing packing(item_size_bytes, shape, strides_bytes);
  EXPECT_EQ(packing.by_plan(), packing.by_element());
  EXPECT_EQ(packing.copies(), copies);
}

TEST(PackPlanTest, CopiesWhatIsInOrderAtOnce) {
  expect_packs(8, {3, 4, 5}, {160, 40, 8}, 1);
  expect_packs(4, {}, {}, 1);
  expect_packs(4, {1, 1}, {-7, 0}, 1);
}

TEST(PackPlanTest, TakesRowsOfAWiderArrayInOneCopy) {
  expect_packs(8, {3, 4}, {80, 8}, 1);
}

TEST(PackPlanTest, JoinsAxesThatAreStepsOfOne) {
  expect_packs(4, {2, 3, 4}, {96, 32, 8}, 1);
}

TEST(PackPlanTest, TransposesByTheLongerAxis) {
  expect_packs(8, {3, 5}, {8, 24}, 3);
}

TEST(PackPlanTest, DoublesWhatIsRepeated) {
  expect_packs(4, {1000}, {0}, 11);
  expect_packs(8, {100, 3}, {0, 8}, 8);
}

TEST(PackPlanTest, RepeatsInEachRowAtOnce) {
  expect_packs(8, {50, 4}, {8, 0}, 3);
}

TEST(PackPlanTest, GoesBackwardsStepByStep) {
  expect_packs(4, {5}, {-4}, 5);
  expect_packs(4, {5, 6}, {-24, 4}, 5);
}

TEST(PackPlanTest, TakesOverlappingWindows) {
  expect_packs(4, {6, 3}, {4, 4}, 6);
}

TEST(PackPlanTest, AgreesWithElementByElementForManyShapes) {
  std::mt19937 random(20260101);
  const auto pick = [&random](int low, int high) {
    return static_cast<std::int64_t>(std::uniform_int_distribution<int>(low, high)(random));
  };
  for (int round = 0; round != 3000; ++round) {
    const auto item_size = static_cast<std::size_t>(1) << static_cast<unsigned>(pick(0, 4));
    Numbers shape;
    Numbers strides;
    for (std::int64_t axis = pick(0, 4); axis > 0; --axis) {
      shape.push_back(pick(1, 4));
      strides.push_back(pick(-6, 6) * static_cast<std::int64_t>(item_size));
    }
    Packing packing(item_size, shape, strides);
    ASSERT_EQ(packing.by_plan(), packing.by_element()) << "round " << round;
  }
}

TEST(PackPlanTest, DoesNothingWithoutElements) {
  const Result<PackPlan> plan = PackPlan::make(8, Numbers{3, 0}, Numbers{std::numeric_limits<std::int64_t>::max(), 8});
  ASSERT_TRUE(plan.has_value());
  const Status done = plan->for_each([](const RowCopy&) { return Status(Error(ErrorCode::kInternal, "a copy")); });
  EXPECT_TRUE(done.has_value());
}

TEST(PackPlanTest, EndsWithTheFirstError) {
  const Result<PackPlan> plan = PackPlan::make(4, Numbers{5}, Numbers{-4});
  ASSERT_TRUE(plan.has_value());
  int copies = 0;
  const Status done = plan->for_each(
      [&copies](const RowCopy&) { return ++copies == 2 ? Status(Error(ErrorCode::kInternal, "enough")) : Status(); });
  EXPECT_FALSE(done.has_value());
  EXPECT_EQ(copies, 2);
}

TEST(PackPlanTest, RefusesWhatDoesNotFit) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::min();
  EXPECT_FALSE(PackPlan::make(8, Numbers{2, 2}, Numbers{8}).has_value());
  EXPECT_FALSE(PackPlan::make(8, Numbers{-1}, Numbers{8}).has_value());
  EXPECT_FALSE(PackPlan::make(8, Numbers{3}, Numbers{kLargest}).has_value());
  EXPECT_FALSE(PackPlan::make(8, Numbers{3}, Numbers{kSmallest}).has_value());
  EXPECT_FALSE(PackPlan::make(8, Numbers{2, 2}, Numbers{kLargest, kLargest}).has_value());
  EXPECT_FALSE(PackPlan::make(8, Numbers{kLargest, kLargest}, Numbers{0, 0}).has_value());
}

TEST(PackPlanTest, NeverAsksForAPitchThatTheDriverRefuses) {
  const Result<PackPlan> plan = PackPlan::make(4, Numbers{3}, Numbers{std::int64_t{1} << 31U});
  ASSERT_TRUE(plan.has_value());
  std::vector<std::size_t> heights;
  const Status done = plan->for_each([&heights](const RowCopy& rows) {
    heights.push_back(rows.height);
    return Status();
  });
  EXPECT_TRUE(done.has_value());
  EXPECT_EQ(heights, (std::vector<std::size_t>{1, 1, 1}));
}

}  // namespace
}  // namespace tessera
