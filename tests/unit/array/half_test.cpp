#include "tessera/array/half.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::uint16_t bits_of(double number) {
  return Half::from_double(number).bits;
}

TEST(HalfTest, ReadsBackEveryNumber) {
  for (unsigned bits = 0; bits < 0x10000; ++bits) {
    const Half half{static_cast<std::uint16_t>(bits)};
    const float number = half.to_float();
    if (std::isnan(number)) {
      EXPECT_TRUE(std::isnan(Half::from_float(number).to_float())) << bits;
    } else {
      EXPECT_EQ(Half::from_float(number).bits, bits);
    }
  }
}

TEST(HalfTest, KnowsTheValuesOfTheStandard) {
  EXPECT_EQ(Half{0x3c00}.to_float(), 1.0F);
  EXPECT_EQ(Half{0xc000}.to_float(), -2.0F);
  EXPECT_EQ(Half{0x7bff}.to_float(), 65504.0F);
  EXPECT_EQ(Half{0x0400}.to_float(), 0x1p-14F);
  EXPECT_EQ(Half{0x0001}.to_float(), 0x1p-24F);
  EXPECT_EQ(Half{0x7c00}.to_float(), std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::signbit(Half{0x8000}.to_float()));
}

TEST(HalfTest, RoundsTheMiddleToEven) {
  EXPECT_EQ(bits_of(1.0 + 0x1p-11), 0x3c00);
  EXPECT_EQ(bits_of(1.0 + 3 * 0x1p-11), 0x3c02);
  EXPECT_EQ(bits_of(0x1p-25), 0x0000);
  EXPECT_EQ(bits_of(3 * 0x1p-25), 0x0002);
}

TEST(HalfTest, RoundsOnceFromDouble) {
  // As a float these would be exactly in the middle, and go to even.
  EXPECT_EQ(bits_of(1.0 + 0x1p-11 + 0x1p-40), 0x3c01);
  EXPECT_EQ(bits_of(1.0 + 3 * 0x1p-11 - 0x1p-40), 0x3c01);
  EXPECT_EQ(bits_of(0x1p-25 + 0x1p-70), 0x0001);
}

TEST(HalfTest, OverflowsFromTheMiddleAboveTheLargest) {
  EXPECT_EQ(bits_of(65519.0), 0x7bff);
  EXPECT_EQ(bits_of(std::nextafter(65520.0, 0.0)), 0x7bff);
  EXPECT_EQ(bits_of(65520.0), 0x7c00);
  EXPECT_EQ(bits_of(-1e300), 0xfc00);
}

TEST(HalfTest, CarriesFromSubnormalToNormal) {
  EXPECT_EQ(bits_of(0x1p-14 - 0x1p-26), 0x0400);
}

TEST(HalfTest, KeepsZerosInfinitiesAndNaN) {
  EXPECT_EQ(bits_of(-0.0), 0x8000);
  EXPECT_EQ(bits_of(1e-300), 0x0000);
  EXPECT_EQ(bits_of(std::numeric_limits<double>::denorm_min()), 0x0000);
  EXPECT_EQ(bits_of(kInfinity), 0x7c00);
  EXPECT_EQ(bits_of(-kInfinity), 0xfc00);
  EXPECT_TRUE(std::isnan(Half::from_double(std::numeric_limits<double>::quiet_NaN()).to_float()));
}

TEST(HalfTest, RoundsToTheNearestEverywhere) {
  for (unsigned bits = 0; bits < 0x7bff; ++bits) {
    const double low = Half{static_cast<std::uint16_t>(bits)}.to_float();
    const double high = Half{static_cast<std::uint16_t>(bits + 1)}.to_float();
    const double middle = (low + high) / 2;
    ASSERT_EQ(bits_of(std::nextafter(middle, 0.0)), bits);
    ASSERT_EQ(bits_of(std::nextafter(middle, kInfinity)), bits + 1);
    ASSERT_EQ(bits_of(middle), bits + (bits & 1U));
  }
}

}  // namespace
}  // namespace tessera
