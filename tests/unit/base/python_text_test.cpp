#include "tessera/base/python_text.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <vector>

namespace tessera {
namespace {

TEST(PythonTextTest, QuotesTextAsPythonDoes) {
  EXPECT_EQ(python_repr(""), "''");
  EXPECT_EQ(python_repr("abc"), "'abc'");
  EXPECT_EQ(python_repr("it's"), "\"it's\"");
  EXPECT_EQ(python_repr("\"it's\""), R"('"it\'s"')");
  EXPECT_EQ(python_repr("a\\b"), R"('a\\b')");
}

TEST(PythonTextTest, EscapesWhatDoesNotPrint) {
  EXPECT_EQ(python_repr(std::string_view("\t\n\r\0\x1F\x7F", 6)), R"('\t\n\r\x00\x1f\x7f')");
  EXPECT_EQ(python_repr("\xC2\xA0\xC2\xAD"), R"('\xa0\xad')");
  EXPECT_EQ(python_repr("\xE2\x80\xA8\xEE\x80\x80"), R"('\u2028\ue000')");
  EXPECT_EQ(python_repr("\xF3\xA0\x80\x81\xF4\x8F\xBF\xBF"), R"('\U000e0001\U0010ffff')");
}

TEST(PythonTextTest, KeepsWhatPrints) {
  EXPECT_EQ(python_repr("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), "'\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80'");
}

TEST(PythonTextTest, EscapesHalfSurrogatePairsAndStrayBytes) {
  EXPECT_EQ(python_repr("\xED\xA0\x80"), R"('\ud800')");
  EXPECT_EQ(python_repr("\xFF\xE2\x82"), R"('\xff\xe2\x82')");
}

TEST(PythonTextTest, WritesFloatsAsPythonDoes) {
  EXPECT_EQ(python_repr(0.0), "0.0");
  EXPECT_EQ(python_repr(-0.0), "-0.0");
  EXPECT_EQ(python_repr(1.5), "1.5");
  EXPECT_EQ(python_repr(0.1), "0.1");
  EXPECT_EQ(python_repr(100000.0), "100000.0");
  EXPECT_EQ(python_repr(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(python_repr(9999999999999998.0), "9999999999999998.0");
  EXPECT_EQ(python_repr(1e15), "1000000000000000.0");
  EXPECT_EQ(python_repr(1e16), "1e+16");
  EXPECT_EQ(python_repr(1e40), "1e+40");
  EXPECT_EQ(python_repr(-1.5e300), "-1.5e+300");
}

TEST(PythonTextTest, WritesSmallFloatsAsPythonDoes) {
  EXPECT_EQ(python_repr(1e-4), "0.0001");
  EXPECT_EQ(python_repr(-1.25e-3), "-0.00125");
  EXPECT_EQ(python_repr(1e-5), "1e-05");
  EXPECT_EQ(python_repr(5e-324), "5e-324");
}

TEST(PythonTextTest, WritesSpecialFloats) {
  EXPECT_EQ(python_repr(std::numeric_limits<double>::quiet_NaN()), "nan");
  EXPECT_EQ(python_repr(std::numeric_limits<double>::infinity()), "inf");
  EXPECT_EQ(python_repr(-std::numeric_limits<double>::infinity()), "-inf");
}

TEST(PythonTextTest, WritesComplexNumbersAsPythonDoes) {
  EXPECT_EQ(python_repr_complex(0, 1), "1j");
  EXPECT_EQ(python_repr_complex(0, -0.0), "-0j");
  EXPECT_EQ(python_repr_complex(1e40, 0), "(1e+40+0j)");
  EXPECT_EQ(python_repr_complex(-0.0, 1.5), "(-0+1.5j)");
  EXPECT_EQ(python_repr_complex(1, std::numeric_limits<double>::quiet_NaN()), "(1+nanj)");
  EXPECT_EQ(python_repr_complex(1, -std::numeric_limits<double>::infinity()), "(1-infj)");
}

TEST(PythonTextTest, WritesTuples) {
  EXPECT_EQ(python_tuple({}), "()");
  EXPECT_EQ(python_tuple(std::array<std::int64_t, 1>{2}), "(2,)");
  EXPECT_EQ(python_tuple(std::array<std::int64_t, 3>{2, -1, 3}), "(2, None, 3)");
}

TEST(PythonTextTest, WritesShapesWithSizesAsTheyAre) {
  EXPECT_EQ(python_shape({}), "()");
  EXPECT_EQ(python_shape(std::array<std::int64_t, 1>{-2}), "(-2,)");
  EXPECT_EQ(python_shape(std::array<std::int64_t, 3>{2, -1, 3}), "(2, -1, 3)");
}

TEST(PythonTextTest, ListsChoices) {
  EXPECT_EQ(python_choices({}), "");
  EXPECT_EQ(python_choices(std::vector<std::string>{"'a'"}), "'a'");
  EXPECT_EQ(python_choices(std::vector<std::string>{"'a'", "'b'"}), "'a' or 'b'");
  EXPECT_EQ(python_choices(std::vector<std::string>{"'a'", "'b'", "'c'"}), "'a', 'b' or 'c'");
}

}  // namespace
}  // namespace tessera
