#include "tessera/array/array_reader.h"

#include <gtest/gtest.h>

#include "reading.h"

namespace tessera::testing {
namespace {

using Kind = ArrayFault::Kind;

TEST(ArrayReaderTest, SaysHowRaggedListsAre) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[[1,2],[3]]", "after 1 dimensions. The detected shape was (2,) + inhomogeneous part."},
      {"[[1,2],[3,[4]]]", "after 2 dimensions. The detected shape was (2, 2) + inhomogeneous part."},
      {"[1,[1]]", "after 1 dimensions. The detected shape was (2,) + inhomogeneous part."},
      {"[[[1]],[]]", "after 1 dimensions. The detected shape was (2,) + inhomogeneous part."},
      {"[[],\"x\"]", "after 1 dimensions. The detected shape was (2,) + inhomogeneous part."},
      {std::string(65, '[') + std::string(65, ']'), "would exceed the maximum number of dimension of 64."},
  };
  for (const auto& [text, words] : cases) {
    const ArrayFault fault = fault_of(read(text));
    EXPECT_EQ(fault.kind, Kind::kRagged) << text;
    EXPECT_NE(fault.reason.find(words), std::string::npos) << fault.reason;
  }
  EXPECT_EQ(array_of(read(std::string(64, '[') + std::string(64, ']'))).rank(), 64U);
}

TEST(ArrayReaderTest, LeavesTheScannerBehindTheValueAfterAFault) {
  for (const std::string value : {"\"x\"", "[null]", "[[1],[2,3]]", "{\"a\":[{}]}", "{\"data\":[1,{}]}",
                                  R"({"shape":[1],"dtype":"float64","data":{"buffer":[1,2],"encoding":"json"}})"}) {
    const std::string text = "[" + value + " ,7]";
    JsonScanner scanner(text);
    scanner.enter();
    ASSERT_TRUE(scanner.next_item());
    EXPECT_TRUE(std::holds_alternative<ArrayFault>(ArrayReader(nullptr, {}).read(scanner, kDoubles))) << value;
    ASSERT_TRUE(scanner.next_item()) << value;
    EXPECT_EQ(scanner.read_number().integer, 7);
  }
}

TEST(ArrayReaderTest, FindsBadJsonInsideAnArray) {
  for (const std::string_view text : {"[1,", "[1 2]", R"({"shape":[1)", R"({"data":{"buffer":[1}})",
                                      R"({"shape":[1],"dtype":"float64","data":{"buffer":"AAA)"}) {
    JsonScanner scanner(text);
    static_cast<void>(ArrayReader(nullptr, {}).read(scanner, kAny));
    EXPECT_TRUE(scanner.has_fault()) << text;
  }
}

TEST(ArrayReaderTest, TakesTheMembersOfAnObjectInAnyOrder) {
  for (const std::string_view text : {
           R"({"shape":[2],"dtype":"float32","data":{"buffer":"AACAPwAAAEA=","encoding":"base64"}})",
           R"({"shape":[2],"dtype":"float32","data":{"encoding":"base64","buffer":"AACAPwAAAEA="}})",
           R"({"data":{"buffer":"AACAPwAAAEA=","encoding":"base64"},"dtype":"float32","shape":[2]})",
           R"({"dtype":"float32","data":{"buffer":"AACAPwAAAEA=","encoding":"base64"},"shape":[2]})",
       }) {
    EXPECT_EQ(elements<float>(array_of(read(text))), (std::vector<float>{1.0F, 2.0F})) << text;
  }
  EXPECT_EQ(array_of(read(R"({"data":{"encoding":"json","buffer":[[1],[2]]},"dtype":"int8","shape":[2]})")).dtype(),
            DType::kInt8);
}

TEST(ArrayReaderTest, TakesTheLastOfMembersGivenTwice) {
  const std::string twice =
      R"({"shape":[1],"dtype":"float64","data":{"buffer":[1],"buffer":[2,3],"encoding":"json"},"shape":[2],"dtype":"int8"})";
  EXPECT_EQ(elements<std::int8_t>(array_of(read(twice))), (std::vector<std::int8_t>{2, 3}));
  EXPECT_EQ(array_of(read(R"({"shape":"x","data":5,"shape":[2],"dtype":"int8","data":[1,2]})")).size(), 2);
}

TEST(ArrayReaderTest, TakesAListInPlaceOfData) {
  EXPECT_EQ(elements<double>(array_of(read(R"({"shape":[2],"dtype":"float64","data":[1.5,2]})"))),
            (std::vector<double>{1.5, 2.0}));
}

TEST(ArrayReaderTest, TakesNothingElseInPlaceOfData) {
  for (const char* data : {"3", "true", "null", R"("3")"}) {
    for (const char* shape : {"[]", "[1]", "[2]"}) {
      const std::string text = R"({"shape":)" + std::string(shape) + R"(,"dtype":"float64","data":)" + data + "}";
      EXPECT_EQ(fault_of(read(text)).kind, Kind::kNonNumeric) << text;
    }
  }
}

TEST(ArrayReaderTest, DecodesBase64WithEscapedSlashes) {
  EXPECT_EQ(elements<std::uint8_t>(array_of(read(base64_object("[3]", "uint8", "\\/\\/\\/\\/")))),
            (std::vector<std::uint8_t>{255, 255, 255}));
}

TEST(ArrayReaderTest, NamesTheSizesThatDoNotFit) {
  EXPECT_EQ(fault_of(read(base64_object("[2,3]", "float64", "AAAAAAAA8D8="))).reason,
            "cannot reshape array of size 1 into shape (2,3)");
  EXPECT_EQ(fault_of(read(base64_object("[1]", "float64", "MTIz"))).reason.find("buffer size must be a multiple of"),
            0U);
  EXPECT_EQ(fault_of(read(json_object("[3]", "float64", "[1,2]"))).reason,
            "cannot reshape array of size 2 into shape (3,)");
}

TEST(ArrayReaderTest, NeverBelievesADeclaredSize) {
  const std::string huge = "[1000000000,1000]";
  for (const std::string& text : {
           base64_object(huge, "float64", "AAAA"),
           json_object(huge, "float64", "[1]"),
           object(huge, "float64", R"("buffer":"BCJNGGBAggAAAAA=","encoding":"base64","compression":"lz4")"),
           json_object("[9223372036854775807,9223372036854775807]", "int8", "[]"),
           json_object("[99999999999999999999999]", "int8", "[]"),
           json_object("[4611686018427387904,0]", "int8", "[]"),
       }) {
    const std::uint64_t used = buffer_pool_stats().used_bytes;
    EXPECT_EQ(fault_of(read(text)).kind, Kind::kDecode) << text;
    EXPECT_EQ(buffer_pool_stats().used_bytes, used);
  }
}

TEST(ArrayReaderTest, BoundsTheBytesOfAnArray) {
  const ArrayReader::Limits limits{64};
  EXPECT_EQ(array_of(read("[1,2,3,4,5,6,7,8]", kDoubles, limits)).size(), 8);
  EXPECT_EQ(fault_of(read("[1,2,3,4,5,6,7,8,9]", kDoubles, limits)).kind, Kind::kDecode);
  EXPECT_EQ(fault_of(read("[1]", ArraySpec{DType::kFloat64, Shape{9}}, limits)).kind, Kind::kDecode);
  EXPECT_EQ(fault_of(read(base64_object("[66]", "int8", std::string(88, 'A')), kAny, limits)).kind, Kind::kDecode);
}

TEST(ArrayReaderTest, RefusesMoreThan64Dimensions) {
  std::string shape = "[1";
  for (int i = 1; i != 100000; ++i) {
    shape += ",1";
  }
  EXPECT_EQ(fault_of(read(base64_object(shape + "]", "int8", "AAAA"))).kind, Kind::kDecode);
}

TEST(ArrayReaderTest, RefusesNegativeSizesForAnyRank) {
  EXPECT_EQ(fault_of(read(json_object("[-1]", "float64", "[1,2]"))).kind, Kind::kNonNumeric);
}

TEST(ArrayReaderTest, CleansTheBytesOfBooleans) {
  EXPECT_EQ(elements<bool>(array_of(read(base64_object("[3]", "bool", "AgD/")))),
            (std::vector<bool>{true, false, true}));
}

TEST(ArrayReaderTest, RefusesBitsLeftOver) {
  EXPECT_EQ(fault_of(read(base64_object("[1]", "int8", "AR=="))).kind, Kind::kDecode);
}

TEST(ArrayReaderTest, SaysWhatIsNoBase64) {
  const auto reason = [](const char* text) { return fault_of(read(base64_object("[3]", "int8", text))).reason; };
  for (const char* text : {"AA*A", "AAA*AAAAA", "*", "A=AA", "=AAA", "AA-_", "AA A", "AA==AAAA"}) {
    EXPECT_EQ(reason(text), "Non-base64 digit found") << text;
  }
  EXPECT_NE(reason("AAA").find("length or padding"), std::string::npos);
  EXPECT_NE(fault_of(read(base64_object("[1]", "int8", "AR=="))).reason.find("left over"), std::string::npos);
}

TEST(ArrayReaderTest, ShowsNoOtherSizeForOneBeyond63Bits) {
  for (const char* size : {"9223372036854775808", "18446744073709551616", R"("9223372036854775808")"}) {
    const std::string shape = "[" + std::string(size) + "]";
    for (const std::string& text : {json_object(shape, "float64", "[1]"), base64_object(shape, "float64", "AAAA"),
                                    object(shape, "float64", R"("buffer":"d.bin","encoding":"binref")")}) {
      EXPECT_EQ(fault_of(read(text)).reason, "Maximum allowed dimension exceeded") << text;
    }
  }
}

TEST(ArrayReaderTest, TakesSizesInEveryFormOfWholeNumbers) {
  for (const char* const size : {"2", "2.0", "\"2\"", "\" +2.00 \"", "\"0_2\""}) {
    EXPECT_EQ(array_of(read(json_object("[" + std::string(size) + "]", "int8", "[1,2]"))).size(), 2) << size;
  }
  for (const char* const size : {"2.5", "\"x\"", "\"2.\"", "\"2e0\"", "null", "[2]", "1e300", "\"\"", "\"1__0\""}) {
    EXPECT_EQ(fault_of(read(json_object("[" + std::string(size) + "]", "int8", "[1,2]"))).kind, Kind::kNonNumeric)
        << size;
  }
}

TEST(ArrayReaderTest, TakesNoTextsForSizesThatAreDeclared) {
  const ArraySpec spec{DType::kInt8, Shape{2}};
  EXPECT_EQ(array_of(read(json_object("[2.0]", "int8", "[1,2]"), spec)).size(), 2);
  EXPECT_EQ(array_of(read(json_object("[true]", "int8", "[1]"), spec)).size(), 2);
  EXPECT_EQ(fault_of(read(json_object("[\"2\"]", "int8", "[1,2]"), spec)).kind, Kind::kNonNumeric);
}

TEST(ArrayReaderTest, ReadsExactlyWithoutCastingOrStretching) {
  const auto read_exactly = [](const std::string& text, const ArraySpec& spec) {
    JsonScanner scanner(text);
    return ArrayReader(nullptr, {}).read_exactly(scanner, spec);
  };
  const ArraySpec scalar{DType::kUInt32, Shape{}};
  EXPECT_EQ(fault_of(read_exactly("7", scalar)).kind, Kind::kDType);
  EXPECT_EQ(array_of(read_exactly(json_object("[]", "uint32", "7"), scalar)).item<std::uint32_t>(), 7U);
  EXPECT_EQ(fault_of(read_exactly("[1.0]", ArraySpec{DType::kFloat64, Shape{3}})).kind, Kind::kShape);
  EXPECT_EQ(fault_of(read_exactly("1.0", ArraySpec{DType::kFloat64, Shape{3}})).kind, Kind::kDimensionality);
  EXPECT_EQ(array_of(read_exactly("[1.0,2.0]", kDoubles)).size(), 2);
}

TEST(ArrayReaderTest, RefusesGpuMemoryEvenForEmptyArrays) {
  const std::string descriptor = R"("buffer":"5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab::0:0","encoding":"cuda_ipc")";
  const ArrayFault fault = fault_of(read(object("[0]", "float64", descriptor)));
  EXPECT_EQ(fault.encoding, "cuda_ipc");
  EXPECT_EQ(fault.reason, "GPU transport 'cuda_ipc' is not enabled on this Tesseract (available: ('none',))");
}

TEST(ArrayReaderTest, TalliesWhatItReadsByEncoding) {
  ArrayTally tally;
  const auto read_all = [&](const std::string& text, const ArraySpec& spec) {
    JsonScanner scanner(text);
    return ArrayReader(nullptr, ArrayReader::Limits{1000}, nullptr, &tally).read(scanner, spec);
  };
  const ArraySpec floats{DType::kFloat32, Shape{kFreeAxis}};
  (void)array_of(read_all("[1,2,3]", floats));  // counted as it ends up, not as it is written
  EXPECT_EQ(tally.of(ArrayEncoding::kJson), 12U);
  (void)array_of(read_all(json_object("[2]", "float32", "[1,2]"), floats));
  EXPECT_EQ(tally.of(ArrayEncoding::kJson), 20U);
  (void)array_of(read_all(base64_object("[2]", "float32", "AACAPwAAAEA="), floats));
  EXPECT_EQ(tally.of(ArrayEncoding::kBase64), 8U);
  (void)fault_of(read_all("\"x\"", floats));
  (void)fault_of(read_all(base64_object("[2]", "float32", "AACAPwAAAE"), floats));
  EXPECT_EQ(tally.of(ArrayEncoding::kJson), 20U);
  EXPECT_EQ(tally.of(ArrayEncoding::kBase64), 8U);
  EXPECT_FALSE(tally.is_over_limit);
}

TEST(ArrayReaderTest, SaysWhatIsBeyondItsLimit) {
  const std::string frame = object("[1000]", "float64", R"("buffer":"AAAA","encoding":"base64","compression":"lz4")");
  const std::string empty = json_object("[0,1000]", "float64", "[]");
  for (const std::string& text : {std::string("[1,2,3,4,5,6,7,8,9,10,11,12,13,14]"), frame, empty}) {
    ArrayTally tally;
    JsonScanner scanner(text);
    const ArrayFault fault =
        fault_of(ArrayReader(nullptr, ArrayReader::Limits{100}, nullptr, &tally).read(scanner, kAny));
    EXPECT_TRUE(fault.is_over_limit) << text;
    EXPECT_TRUE(tally.is_over_limit) << text;
  }
  EXPECT_FALSE(fault_of(read("[[1],[2,3]]")).is_over_limit);
}

TEST(ArrayTallyTest, NamesTheEncodings) {
  EXPECT_EQ(name_of(ArrayEncoding::kJson), "json");
  EXPECT_EQ(name_of(ArrayEncoding::kBase64Lz4), "base64+lz4");
  EXPECT_EQ(name_of(ArrayEncoding::kCudaIpc), "cuda_ipc");
}

}  // namespace
}  // namespace tessera::testing
