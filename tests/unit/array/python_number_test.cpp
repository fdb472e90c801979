#include "tessera/array/python_number.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera {
namespace {

TEST(PythonNumberTest, ReadsFloatsAsPythonDoes) {
  EXPECT_EQ(parse_python_float("\x1c 1e3\n"), 1000.0);
  EXPECT_EQ(parse_python_float("-INFinity"), -HUGE_VAL);
  EXPECT_EQ(parse_python_float("1e400"), HUGE_VAL);
  for (const char* const text : {"", " ", ".", "e5", "1e", "0x1", "1__0", "_1", "1_", "1 2", "--1", "infin"}) {
    EXPECT_FALSE(parse_python_float(text).has_value()) << text;
  }
}

TEST(PythonNumberTest, ReadsComplexNumbersAsPythonDoes) {
  using Complex = std::complex<double>;
  EXPECT_EQ(parse_python_complex("1+2j"), Complex(1, 2));
  EXPECT_EQ(parse_python_complex(" ( 1e3J ) "), Complex(0, 1000));
  EXPECT_EQ(parse_python_complex("-j"), Complex(0, -1));
  EXPECT_EQ(parse_python_complex("1-j"), Complex(1, -1));
  EXPECT_EQ(parse_python_complex("-2.5"), Complex(-2.5, 0));
  EXPECT_EQ(parse_python_complex("infinityj"), Complex(0, HUGE_VAL));
  for (const char* const text : {"", "1+2i", "1 + 2j", "1j+2", "(1", "1)", "()", "1+2", "j1", "1+2jj"}) {
    EXPECT_FALSE(parse_python_complex(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace tessera
