#include "tessera/base/checked_math.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace tessera {
namespace {

constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();

TEST(CheckedMathTest, MultipliesWhatFits) {
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ULL << 32U, (1ULL << 32U) - 1), 0xFFFFFFFF00000000ULL);
  EXPECT_EQ(checked_multiply<std::uint64_t>(kLargest, 0), 0U);
  EXPECT_EQ(checked_multiply(-3, 5), -15);
}

TEST(CheckedMathTest, RefusesProductThatOverflows) {
  EXPECT_EQ(checked_multiply<std::uint64_t>(1ULL << 32U, 1ULL << 32U), std::nullopt);
  EXPECT_EQ(checked_multiply(std::numeric_limits<int>::min(), -1), std::nullopt);
}

TEST(CheckedMathTest, AddsWhatFits) {
  EXPECT_EQ(checked_add<std::uint64_t>(kLargest - 1, 1), kLargest);
  EXPECT_EQ(checked_add(-3, 5), 2);
}

TEST(CheckedMathTest, RefusesSumThatOverflows) {
  EXPECT_EQ(checked_add<std::uint64_t>(kLargest, 1), std::nullopt);
  EXPECT_EQ(checked_add(std::numeric_limits<int>::min(), -1), std::nullopt);
}

}  // namespace
}  // namespace tessera
