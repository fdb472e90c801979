#include "tessera/array/json_number.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

namespace tessera {
namespace {

template <class T>
std::string written(char* (*write)(char*, T), T number) {
  std::array<char, kMaxNumberLength> text{};
  return {text.data(), write(text.data(), number)};
}

std::string text_of(double number) {
  return written(&write_json_double, number);
}

std::string text_of(std::complex<double> number) {
  return written<std::complex<double>>(&write_json_complex, number);
}

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

// As orjson prints them.
TEST(JsonNumberTest, WritesDoublesAsTheRuntimeDoes) {
  EXPECT_EQ(text_of(0.0), "0.0");
  EXPECT_EQ(text_of(-0.0), "-0.0");
  EXPECT_EQ(text_of(100.0), "100.0");
  EXPECT_EQ(text_of(-123.456), "-123.456");
  EXPECT_EQ(text_of(0.00001), "0.00001");
  EXPECT_EQ(text_of(9.999e-6), "9.999e-6");
  EXPECT_EQ(text_of(1e-7), "1e-7");
  EXPECT_EQ(text_of(1e15), "1000000000000000.0");
  EXPECT_EQ(text_of(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(text_of(1e16), "1e+16");
  EXPECT_EQ(text_of(12345678901234567.0), "1.2345678901234568e+16");
  EXPECT_EQ(text_of(1.5e300), "1.5e+300");
  EXPECT_EQ(text_of(5e-324), "5e-324");
  EXPECT_EQ(text_of(static_cast<double>(0.1F)), "0.10000000149011612");
}

TEST(JsonNumberTest, WritesNullForWhatIsNotFinite) {
  EXPECT_EQ(text_of(kNan), "null");
  EXPECT_EQ(text_of(kInf), "null");
  EXPECT_EQ(text_of(-kInf), "null");
}

TEST(JsonNumberTest, WritesDoublesThatReadBackTheSame) {
  std::mt19937_64 random(7);
  for (int i = 0; i != 20000; ++i) {
    const std::uint64_t bits = random();
    double number = 0.0;
    std::memcpy(&number, &bits, sizeof number);
    if (std::isfinite(number)) {
      const std::string text = text_of(number);
      ASSERT_LE(text.size(), kMaxDoubleLength);
      ASSERT_EQ(std::strtod(text.c_str(), nullptr), number) << text;
    }
  }
}

TEST(JsonNumberTest, WritesIntegersExactly) {
  EXPECT_EQ(written<std::int64_t>(&write_json_integer, INT64_MIN), "-9223372036854775808");
  EXPECT_EQ(written<std::uint64_t>(&write_json_unsigned, UINT64_MAX), "18446744073709551615");
}

TEST(JsonNumberTest, WritesComplexNumbersWithoutExponents) {
  EXPECT_EQ(text_of({1.0, 2.0}), "\"1+2j\"");
  EXPECT_EQ(text_of({0.5, -0.0}), "\"0.5-0j\"");
  EXPECT_EQ(text_of({-1.5, 1e-7}), "\"-1.5+0.0000001j\"");
  EXPECT_EQ(text_of({1e22, 1.2345678901234568e+20}), "\"10000000000000000000000+123456789012345680000j\"");
  EXPECT_EQ(written<std::complex<float>>(&write_json_complex, {0.1F, 2.0F}), "\"0.10000000149011612+2j\"");
}

TEST(JsonNumberTest, RoundsTiesOfComplexPartsUp) {
  // Exactly between two decimals of 17 digits.
  EXPECT_EQ(text_of({1.34751129150390625, 0.0}), "\"1.3475112915039063+0j\"");
  EXPECT_EQ(text_of(1.34751129150390625), "1.3475112915039062");
}

TEST(JsonNumberTest, LeavesOutARealPartOfZero) {
  EXPECT_EQ(text_of({0.0, 3.0}), "\"3j\"");
  EXPECT_EQ(text_of({-0.0, -0.0}), "\"-0j\"");
  EXPECT_EQ(text_of({0.0, 0.0}), "\"0j\"");
}

TEST(JsonNumberTest, WritesWordsInComplexNumbers) {
  EXPECT_EQ(text_of({kNan, 1.0}), "\"NaN+1j\"");
  EXPECT_EQ(text_of({1.0, std::copysign(kNan, -1.0)}), "\"1+NaNj\"");
  EXPECT_EQ(text_of({-kInf, kInf}), "\"-inf+infj\"");
  EXPECT_EQ(text_of({0.0, -kInf}), "\"-infj\"");
}

TEST(JsonNumberTest, FitsTheLongestComplexNumberIntoItsRoom) {
  EXPECT_LE(text_of({-5e-324, -2.2250738585072014e-308}).size(), kMaxNumberLength);
}

}  // namespace
}  // namespace tessera
