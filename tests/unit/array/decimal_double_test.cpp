#include "decimal_double.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <string_view>

#include "powers_of_ten.h"

namespace tessera {
namespace {

// The standard library's shortest digits.
ShortDecimal expected_decimal(double number) {
  std::array<char, 40> text{};
  const char* const end = std::to_chars(text.begin(), text.end(), number, std::chars_format::scientific).ptr;
  ShortDecimal decimal;
  const char* at = text.begin();
  for (bool is_fraction = false; *at != 'e'; ++at) {
    if (*at == '.') {
      is_fraction = true;
      continue;
    }
    decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(*at - '0');
    decimal.exponent -= is_fraction ? 1 : 0;
  }
  decimal.exponent += std::atoi(std::string(at + 1, end).c_str());
  while (decimal.digits % 10 == 0) {
    decimal.digits /= 10;
    ++decimal.exponent;
  }
  return decimal;
}

// The standard library's nearest double.
double expected_double(std::uint64_t digits, int exponent) {
  const std::string text = std::to_string(digits) + "e" + std::to_string(exponent);
  double value = 0.0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc::result_out_of_range) {
    return exponent > 0 ? std::numeric_limits<double>::infinity() : 0.0;
  }
  return value;
}

void expect_same_both_ways(double number) {
  const ShortDecimal expected = expected_decimal(number);
  const ShortDecimal actual = shortest_decimal_of(number);
  ASSERT_EQ(actual.digits, expected.digits) << number;
  ASSERT_EQ(actual.exponent, expected.exponent) << number;
  ASSERT_EQ(double_of_decimal(actual.digits, actual.exponent), number);
}

void expect_same_double(std::uint64_t digits, int exponent) {
  ASSERT_EQ(double_of_decimal(digits, exponent), expected_double(digits, exponent)) << digits << "e" << exponent;
}

TEST(DecimalDoubleTest, KnowsPowersOfTen) {
  EXPECT_EQ(power_of_ten(0).high, std::uint64_t{1} << 63U);
  EXPECT_EQ(power_of_ten(1).high, std::uint64_t{5} << 61U);
  // 5^55, the last that fits.
  EXPECT_EQ(power_of_ten(55).high, 0xD0CF4B50CFE20765U);
  EXPECT_EQ(power_of_ten(55).low, 0xFFF4B4E3F741CF6DU);
  // 1/10
  EXPECT_EQ(power_of_ten(-1).high, 0xCCCCCCCCCCCCCCCCU);
  EXPECT_EQ(power_of_ten(-1).low, 0xCCCCCCCCCCCCCCCCU);
  EXPECT_EQ(power_of_ten(-342).high, 0xEEF453D6923BD65AU);
  EXPECT_EQ(power_of_ten(308).high, 0x8E679C2F5E44FF8FU);
}

TEST(DecimalDoubleTest, AgreesWithTheStandardLibraryAtEdges) {
  using Limits = std::numeric_limits<double>;
  for (const double number : {Limits::denorm_min(), Limits::min(), std::nextafter(Limits::min(), 0.0), Limits::max(),
                              Limits::epsilon(), 1.0, 0.1, 0.3, 1.0 / 3, 5e-324, 2e-323, 9007199254740993.0, 1e23,
                              9.5367431640625e-07, 2.98023223876953125e-8, 1.7976931348623157e308}) {
    expect_same_both_ways(number);
  }
  for (int exponent = 0; exponent < 0x7FF; ++exponent) {
    const std::uint64_t power = static_cast<std::uint64_t>(exponent) << 52U;
    for (const std::uint64_t bits : {power, power + 1, power + 2, power - 1}) {
      const auto number = std::bit_cast<double>(bits);
      if (std::isfinite(number) && number > 0) {
        expect_same_both_ways(number);
      }
    }
  }
  for (int exponent = -350; exponent <= 330; ++exponent) {
    for (const std::uint64_t digits :
         {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{9007199254740993}, std::uint64_t{9999999999999999999U},
          std::uint64_t{17976931348623157}, std::uint64_t{17976931348623159}, std::uint64_t{2470328229206232720}}) {
      expect_same_double(digits, exponent);
    }
  }
  EXPECT_EQ(double_of_decimal(0, 400), 0.0);
  EXPECT_EQ(double_of_decimal(1, std::int64_t{1} << 40U), Limits::infinity());
  EXPECT_EQ(double_of_decimal(1, -(std::int64_t{1} << 40U)), 0.0);
}

TEST(DecimalDoubleTest, AgreesWithTheStandardLibraryAtRandom) {
  std::mt19937_64 chance(20260101);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same numbers each time
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t bits = chance() >> 1U;
    const auto number = std::bit_cast<double>(bits);
    if (std::isfinite(number) && number > 0) {
      expect_same_both_ways(number);
    }
    expect_same_both_ways(
        static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits % 0x7F800000U) | 1U)));
    expect_same_both_ways(std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFU) | (std::uint64_t{1000} + bits % 50) << 52U));
    expect_same_double(chance(), static_cast<int>(chance() % 700) - 360);
    expect_same_double(chance() % 100'000'000'000'000'000U, static_cast<int>(chance() % 40) - 25);
    // The middle of two doubles.
    expect_same_double(((std::uint64_t{1} << 53U | chance() >> 11U) << 1U | 1U) << chance() % 8U, 0);
  }
}

}  // namespace
}  // namespace tessera
