#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "tessera/array/fit.h"

namespace tessera {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

template <class To, class From>
std::vector<To> cast_to(std::initializer_list<From> elements) {
  const auto result = cast(Array::of(elements), kDTypeOf<To>);
  const auto& array = std::get<Array>(result);
  EXPECT_EQ(array.dtype(), kDTypeOf<To>);
  const auto values = array.template values<To>();
  return {values.begin(), values.end()};
}

// The value that the error quotes.
template <class To, class From>
std::string lost_in(std::initializer_list<From> elements) {
  const auto result = cast(Array::of(elements), kDTypeOf<To>);
  const auto* fault = std::get_if<ArrayFault>(&result);
  if (fault == nullptr) {
    return "none";
  }
  EXPECT_EQ(fault->kind, ArrayFault::Kind::kOutOfRange);
  EXPECT_EQ(fault->expected_dtype, kDTypeOf<To>);
  return fault->value;
}

TEST(CastTest, CopiesNothingForTheSameType) {
  const Array array = Array::of<double>({1, 2});
  const auto result = cast(array, DType::kFloat64);
  EXPECT_EQ(std::get<Array>(result).bytes().data(), array.bytes().data());
}

TEST(CastTest, KeepsIntegersThatFit) {
  EXPECT_EQ((cast_to<std::int8_t, std::int64_t>({-128, 0, 127})), (std::vector<std::int8_t>{-128, 0, 127}));
  EXPECT_EQ((cast_to<std::uint64_t, std::int8_t>({0, 127})), (std::vector<std::uint64_t>{0, 127}));
  EXPECT_EQ((cast_to<std::uint8_t, bool>({true, false})), (std::vector<std::uint8_t>{1, 0}));
}

TEST(CastTest, QuotesTheMinimumIfItIsTooSmallElseTheMaximum) {
  EXPECT_EQ((lost_in<std::int8_t, std::int64_t>({5, 200, 1000, -100})), "1000");
  EXPECT_EQ((lost_in<std::int8_t, std::int64_t>({1000, -129, -500})), "-500");
  EXPECT_EQ((lost_in<std::uint8_t, std::int64_t>({std::int64_t{1} << 40, -1})), "-1");
  EXPECT_EQ((lost_in<std::uint64_t, std::int8_t>({3, -5})), "-5");
  EXPECT_EQ((lost_in<std::int64_t, std::uint64_t>({(std::uint64_t{1} << 63), 1})), "9223372036854775808");
  EXPECT_EQ((lost_in<std::uint16_t, std::uint32_t>({70000, 80000, 90000})), "90000");
}

TEST(CastTest, FindsALostIntegerAnywhere) {
  for (std::size_t place = 0; place < 3000; place += 7) {
    Array array = Array::zeros(DType::kInt32, {3000});
    array.mutable_values<std::int32_t>()[place] = 40000;
    const auto result = cast(std::move(array), DType::kInt16);
    ASSERT_EQ(std::get<ArrayFault>(result).value, "40000") << place;
  }
}

TEST(CastTest, RoundsFloatsToNearest) {
  EXPECT_EQ((cast_to<float, double>({0.1, 1e-60, 3.4028235677973362e38})),
            (std::vector<float>{0.1F, 0.0F, std::numeric_limits<float>::max()}));
  EXPECT_EQ((cast_to<Half, double>({1.0, 65519.0})), (std::vector<Half>{{0x3c00}, {0x7bff}}));
  EXPECT_EQ((cast_to<float, std::int64_t>({(std::int64_t{1} << 53) + 1})), (std::vector<float>{0x1p53F}));
  EXPECT_EQ((cast_to<double, Half>({{0x3c00}, {0x0001}})), (std::vector<double>{1.0, 0x1p-24}));
}

TEST(CastTest, QuotesTheFirstFloatThatOverflows) {
  EXPECT_EQ((lost_in<float, double>({1.0, 1e39, -1e40})), "1e+39");
  EXPECT_EQ((lost_in<float, double>({3.4028235677973366e38})), "3.4028235677973366e+38");
  EXPECT_EQ((lost_in<Half, float>({1.0F, 65520.0F})), "65520.0");
  EXPECT_EQ((lost_in<Half, double>({-1e300})), "-1e+300");
}

TEST(CastTest, QuotesIntegersThatOverflowFloat16AsIntegers) {
  EXPECT_EQ((lost_in<Half, std::int32_t>({65519, 65520})), "65520");
  EXPECT_EQ((lost_in<Half, std::int64_t>({3, -70000, 70000})), "-70000");
  EXPECT_EQ((lost_in<Half, std::uint16_t>({65535})), "65535");
  EXPECT_EQ((lost_in<Half, std::int16_t>({32767, -32768})), "none");
  EXPECT_EQ((lost_in<float, std::uint64_t>({std::numeric_limits<std::uint64_t>::max()})), "none");
}

TEST(CastTest, KeepsInfinitiesAndNaN) {
  const auto floats = cast_to<float, double>({kInfinity, -kInfinity, kNaN});
  EXPECT_EQ(floats[0], std::numeric_limits<float>::infinity());
  EXPECT_EQ(floats[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(floats[2]));
  EXPECT_EQ((lost_in<Half, double>({kInfinity, kNaN})), "none");
}

TEST(CastTest, GivesRealNumbersNoImaginaryPart) {
  EXPECT_EQ((cast_to<std::complex<float>, std::int8_t>({-2})), (std::vector<std::complex<float>>{{-2, 0}}));
  EXPECT_EQ((cast_to<std::complex<double>, bool>({true})), (std::vector<std::complex<double>>{{1, 0}}));
  EXPECT_EQ((cast_to<std::complex<double>, std::complex<float>>({{1, 2}})),
            (std::vector<std::complex<double>>{{1, 2}}));
}

TEST(CastTest, QuotesComplexNumbersAsPythonDoes) {
  using Complex = std::complex<double>;
  EXPECT_EQ((lost_in<std::complex<float>, Complex>({{1e40, 0}})), "(1e+40+0j)");
  EXPECT_EQ((lost_in<std::complex<float>, Complex>({{1, 1}, {0, 1e39}})), "1e+39j");
  EXPECT_EQ((lost_in<std::complex<float>, Complex>({{-1.5, -1e39}})), "(-1.5-1e+39j)");
  EXPECT_EQ((lost_in<std::complex<float>, Complex>({{kInfinity, kNaN}})), "none");
  EXPECT_EQ((lost_in<std::complex<float>, double>({1e39})), "1e+39");
}

TEST(CastTest, TakesAnyByteAsABool) {
  Array bools = Array::zeros(DType::kBool, {3});
  bools.mutable_bytes()[1] = std::byte{7};
  const auto result = cast(std::move(bools), DType::kFloat32);
  const auto values = std::get<Array>(result).values<float>();
  EXPECT_EQ(std::vector<float>(values.begin(), values.end()), (std::vector<float>{0, 1, 0}));
}

TEST(CastTest, CastsEveryPairThatIsCastable) {
  for (const DType from : all_dtypes()) {
    for (const DType to : all_dtypes()) {
      Array ones = Array::zeros(from, {2});
      const auto result = cast(std::move(ones), to);
      const auto* array = std::get_if<Array>(&result);
      ASSERT_EQ(array != nullptr, is_castable(from, to)) << name_of(from) << " to " << name_of(to);
      if (array != nullptr) {
        EXPECT_EQ(array->dtype(), to);
        EXPECT_EQ(array->size(), 2);
      } else {
        EXPECT_EQ(std::get<ArrayFault>(result).kind, ArrayFault::Kind::kDType);
      }
    }
  }
}

TEST(CastTest, CastsShapesWithoutData) {
  const auto result = cast(Array::shape_only(DType::kInt64, {2, 3}), DType::kFloat16);
  const auto& array = std::get<Array>(result);
  EXPECT_FALSE(array.has_data());
  EXPECT_EQ(array.dtype(), DType::kFloat16);
  EXPECT_EQ(array.shape(), (Shape{2, 3}));
}

}  // namespace
}  // namespace tessera
