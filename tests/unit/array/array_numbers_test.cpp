#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "reading.h"

namespace tessera::testing {
namespace {

using Kind = ArrayFault::Kind;

TEST(ArrayNumbersTest, InfersTheTypeOfBareListsAsNumPyDoes) {
  const std::vector<std::pair<std::string, DType>> cases = {
      {"[1,2]", DType::kInt64},
      {"[true,1]", DType::kInt64},
      {"[true,false]", DType::kBool},
      {"[1,2.5]", DType::kFloat64},
      {"[true,2.5]", DType::kFloat64},
      {"[]", DType::kFloat64},
      {"[9223372036854775808]", DType::kUInt64},
      {"[9223372036854775808,true]", DType::kUInt64},
      {"[9223372036854775808,1]", DType::kFloat64},
      {"[1,9223372036854775808]", DType::kFloat64},
      {"[-1,9223372036854775808]", DType::kFloat64},
  };
  for (const auto& [text, dtype] : cases) {
    EXPECT_EQ(array_of(read(text)).dtype(), dtype) << text;
  }
}

TEST(ArrayNumbersTest, KeepsWhatWasReadBeforeTheTypeBecameClear) {
  EXPECT_EQ(elements<double>(array_of(read("[true,2,3.5]"))), (std::vector<double>{1.0, 2.0, 3.5}));
  EXPECT_EQ(elements<double>(array_of(read("[18446744073709551615,-1]"))),
            (std::vector<double>{18446744073709551615.0, -1.0}));
}

TEST(ArrayNumbersTest, ReadsListsOfManyElements) {
  std::string text = "[0";
  std::vector<std::int64_t> expected{0};
  for (int i = 1; i != 5000; ++i) {
    text += "," + std::to_string(i);
    expected.push_back(i);
  }
  EXPECT_EQ(elements<std::int64_t>(array_of(read(text + "]"))), expected);
}

TEST(ArrayNumbersTest, KeepsIntegersOf64BitsExactInObjects) {
  EXPECT_EQ(elements<std::uint64_t>(array_of(read(json_object("[2]", "uint64", "[18446744073709551615,1]")))),
            (std::vector<std::uint64_t>{UINT64_MAX, 1}));
  EXPECT_EQ(
      elements<std::int64_t>(array_of(read(json_object("[2]", "int64", "[9007199254740993,-9223372036854775808]")))),
      (std::vector<std::int64_t>{9007199254740993, INT64_MIN}));
}

TEST(ArrayNumbersTest, ShowsTheValueThatIsOutOfRange) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"int64", "[9223372036854775808,-1]", "9223372036854775808"},
      {"uint64", "[18446744073709551615,-7]", "-7"},
      {"int64", "[1,-18446744073709551616]", "-18446744073709551616"},
      {"uint8", "[1.5,18446744073709551616]", "18446744073709551616"},
      {"int32", "[3e9,-4e9]", "-4000000000.0"},
      {"int64", "[1e19,1]", "1e+19"},
      {"int64", "[9223372036854775808.0,1]", "9.223372036854776e+18"},
      {"int16", "[1,70000]", "70000"},
      {"float16", "[65520,1]", "65520"},
  };
  for (const auto& [dtype, buffer, value] : cases) {
    const ArrayFault fault = fault_of(read(json_object("[2]", dtype, buffer)));
    EXPECT_EQ(fault.kind, Kind::kOutOfRange) << buffer;
    EXPECT_EQ(fault.value, value) << buffer;
  }
}

TEST(ArrayNumbersTest, ReadsNumbersInTextsAndNullsAsNumPyDoes) {
  const auto doubles = [](const std::string& buffer) {
    return elements<double>(array_of(read(json_object("[2]", "float64", buffer))));
  };
  EXPECT_EQ(doubles(R"([1.5," 1_0\t"])"), (std::vector<double>{1.5, 10.0}));
  EXPECT_EQ(doubles(R"(["+1.","-.5e1"])"), (std::vector<double>{1.0, -5.0}));
  EXPECT_EQ(doubles("[1180591620717411303424,\"2\"]"), (std::vector<double>{1180591620717411303424.0, 2.0}));
  EXPECT_TRUE(std::isnan(doubles("[null,true]")[0]));
  EXPECT_EQ(doubles("[null,true]")[1], 1.0);
  EXPECT_EQ(fault_of(read(json_object("[2]", "float64", R"([true,"2"])"))).reason,
            "could not convert string to float: 'True'");
  EXPECT_EQ(fault_of(read(json_object("[2]", "float64", "[1,1" + std::string(400, '0') + "]"))).kind, Kind::kDecode);
  EXPECT_EQ(fault_of(read(json_object("[1]", "float32", R"(["1e39"])"))).kind, Kind::kDecode);
  EXPECT_EQ(fault_of(read(json_object("[1]", "float64", "[{}]"))).kind, Kind::kDecode);
}

TEST(ArrayNumbersTest, ReadsBooleansByTruth) {
  const auto bools = [](const std::string& buffer) {
    return elements<bool>(array_of(read(json_object("[4]", "bool", buffer))));
  };
  EXPECT_EQ(bools("[0,-1,2,true]"), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(bools("[NaN,-0.0,0.5,0]"), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(bools(R"(["","0",0,false])"), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(bools(R"([null,"",0.0,"0"])"), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(bools(R"([{},{"a":1},0,1180591620717411303424])"), (std::vector<bool>{false, true, false, true}));
}

}  // namespace
}  // namespace tessera::testing
