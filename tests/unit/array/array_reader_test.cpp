#include "tessera/array/array_reader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "cuda_ipc_pattern.h"
#include "python_number.h"
#include "support/temp_folder.h"
#include "tessera/array/base64.h"
#include "tessera/array/lz4_frame.h"

namespace tessera {
namespace {

using Kind = ArrayFault::Kind;
using Read = std::variant<Array, ArrayFault>;
using testing::TempFolder;

const ArraySpec kAny;
const ArraySpec kDoubles{DType::kFloat64, Shape{kFreeAxis}};

Read read(std::string_view text, const ArraySpec& spec = kAny, ArrayReader::Limits limits = {}) {
  JsonScanner scanner(text);
  Read result = ArrayReader(nullptr, limits).read(scanner, spec);
  scanner.expect_end();
  EXPECT_FALSE(scanner.has_fault()) << text;
  return result;
}

Array array_of(const Read& result) {
  const auto* const fault = std::get_if<ArrayFault>(&result);
  EXPECT_EQ(fault, nullptr) << static_cast<int>(fault->kind) << " " << fault->reason;
  return fault == nullptr ? std::get<Array>(result) : Array();
}

ArrayFault fault_of(const Read& result) {
  const auto* const fault = std::get_if<ArrayFault>(&result);
  EXPECT_NE(fault, nullptr);
  return fault == nullptr ? ArrayFault{} : *fault;
}

template <class T>
std::vector<T> elements(const Array& array) {
  const auto values = array.values<T>();
  return {values.begin(), values.end()};
}

std::string object(const std::string& shape, const std::string& dtype, const std::string& data) {
  return R"({"shape":)" + shape + R"(,"dtype":")" + dtype + R"(","data":{)" + data + "}}";
}

std::string json_object(const std::string& shape, const std::string& dtype, const std::string& buffer) {
  return object(shape, dtype, R"("buffer":)" + buffer + R"(,"encoding":"json")");
}

std::string base64_object(const std::string& shape, const std::string& dtype, const std::string& buffer) {
  return object(shape, dtype, R"("buffer":")" + buffer + R"(","encoding":"base64")");
}

TEST(ArrayReaderTest, InfersTheTypeOfBareListsAsNumPyDoes) {
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

TEST(ArrayReaderTest, KeepsWhatWasReadBeforeTheTypeBecameClear) {
  EXPECT_EQ(elements<double>(array_of(read("[true,2,3.5]"))), (std::vector<double>{1.0, 2.0, 3.5}));
  EXPECT_EQ(elements<double>(array_of(read("[18446744073709551615,-1]"))),
            (std::vector<double>{18446744073709551615.0, -1.0}));
}

TEST(ArrayReaderTest, ReadsListsOfManyElements) {
  std::string text = "[0";
  std::vector<std::int64_t> expected{0};
  for (int i = 1; i != 5000; ++i) {
    text += "," + std::to_string(i);
    expected.push_back(i);
  }
  EXPECT_EQ(elements<std::int64_t>(array_of(read(text + "]"))), expected);
}

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
  EXPECT_EQ(array_of(read(R"({"shape":[],"dtype":"float64","data":3})")).item<double>(), 3.0);
  EXPECT_EQ(fault_of(read(R"({"shape":[],"dtype":"float64","data":"3"})")).kind, Kind::kNonNumeric);
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

TEST(ArrayReaderTest, KeepsIntegersOf64BitsExactInObjects) {
  EXPECT_EQ(elements<std::uint64_t>(array_of(read(json_object("[2]", "uint64", "[18446744073709551615,1]")))),
            (std::vector<std::uint64_t>{UINT64_MAX, 1}));
  EXPECT_EQ(
      elements<std::int64_t>(array_of(read(json_object("[2]", "int64", "[9007199254740993,-9223372036854775808]")))),
      (std::vector<std::int64_t>{9007199254740993, INT64_MIN}));
}

TEST(ArrayReaderTest, ShowsTheValueThatIsOutOfRange) {
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

TEST(ArrayReaderTest, ReadsNumbersInTextsAndNullsAsNumPyDoes) {
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

TEST(ArrayReaderTest, ReadsBooleansByTruth) {
  const auto bools = [](const std::string& buffer) {
    return elements<bool>(array_of(read(json_object("[4]", "bool", buffer))));
  };
  EXPECT_EQ(bools("[0,-1,2,true]"), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(bools("[NaN,-0.0,0.5,0]"), (std::vector<bool>{true, false, true, false}));
  EXPECT_EQ(bools(R"(["","0",0,false])"), (std::vector<bool>{false, true, true, true}));
  EXPECT_EQ(bools(R"([null,"",0.0,"0"])"), (std::vector<bool>{false, false, false, true}));
  EXPECT_EQ(bools(R"([{},{"a":1},0,1180591620717411303424])"), (std::vector<bool>{false, true, false, true}));
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

TEST(ArrayReaderTest, TellsDescriptorsOfGpuMemoryFromOtherTexts) {
  std::ifstream file(TESSERA_TESTS_DIR "/vectors/grammar.json");
  const nlohmann::json grammar = nlohmann::json::parse(file);
  for (const auto& entry : grammar.at("cuda_ipc_buffer")) {
    const auto text = entry.at("buffer").get<std::string>();
    EXPECT_EQ(is_cuda_ipc_buffer(text), entry.at("valid").get<bool>()) << text;
  }
}

TEST(ArrayReaderTest, RefusesGpuMemoryEvenForEmptyArrays) {
  const std::string descriptor = R"("buffer":"5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab::0:0","encoding":"cuda_ipc")";
  const ArrayFault fault = fault_of(read(object("[0]", "float64", descriptor)));
  EXPECT_EQ(fault.encoding, "cuda_ipc");
  EXPECT_EQ(fault.reason, "GPU transport 'cuda_ipc' is not enabled on this Tesseract (available: ('none',))");
}

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

class BinrefReadingTest : public ::testing::Test {
 protected:
  [[nodiscard]] Read read(const std::string& shape, const std::string& dtype, const std::string& buffer,
                          const std::string& more = "") const {
    const std::string text = object(shape, dtype, R"("buffer":")" + buffer + R"(","encoding":"binref")" + more);
    JsonScanner scanner(text);
    return ArrayReader(&files_, {}).read(scanner, kAny);
  }

  TempFolder temp_;
  ConfinedFolder files_ = ConfinedFolder::open(temp_.path()).value();
};

TEST_F(BinrefReadingTest, ReadsAtAnOffset) {
  temp_.write("a/d.bin", std::string("\0\0\0\0\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40", 16));
  EXPECT_EQ(elements<float>(array_of(read("[2]", "float32", "a/d.bin:4"))), (std::vector<float>{1.0F, 2.0F}));
  EXPECT_EQ(elements<float>(array_of(read("[2]", "float32", "a/d.bin"))), (std::vector<float>{0.0F, 1.0F}));
  EXPECT_EQ(elements<float>(array_of(read("[1]", "float32", "a/d.bin:12:99"))), (std::vector<float>{3.0F}));
  EXPECT_EQ(array_of(read("[0]", "float32", "a/d.bin:99")).size(), 0);
}

TEST_F(BinrefReadingTest, NamesTheFileThatIsTooSmall) {
  temp_.write("d.bin", "12345");
  const ArrayFault fault = fault_of(read("[1]", "float32", "d.bin:2"));
  EXPECT_EQ(fault.encoding, "binref");
  EXPECT_EQ(fault.reason, "Binref buffer d.bin is too small: expected 4 bytes at offset 2, but only 3 could be read.");
  EXPECT_EQ(fault_of(read("[1]", "float32", "d.bin:18446744073709551615")).kind, Kind::kDecode);
}

TEST_F(BinrefReadingTest, ReadsFrames) {
  const Array array = Array::of<double>({1, 2, 3});
  const Buffer frame = lz4_compress(array.bytes());
  temp_.write("f.bin", "x" + std::string(reinterpret_cast<const char*>(frame.data()), frame.size_bytes()));
  const std::string lz4 = R"(,"compression":"lz4")";
  const std::string size = std::to_string(frame.size_bytes());
  EXPECT_EQ(elements<double>(array_of(read("[3]", "float64", "f.bin:1:" + size, lz4))),
            (std::vector<double>{1.0, 2.0, 3.0}));
  EXPECT_EQ(fault_of(read("[3]", "float64", "f.bin:1", lz4)).reason,
            "compressed_size is required in buffer spec when compression is set (expected format: "
            "'<path>:<offset>:<compressed_size>')");
  EXPECT_EQ(fault_of(read("[2]", "float64", "f.bin:1:" + size, lz4)).reason,
            "cannot reshape array of size 3 into shape (2,)");
  EXPECT_EQ(fault_of(read("[3]", "float64", "f.bin:0:" + size, lz4)).kind, Kind::kDecode);
  EXPECT_EQ(fault_of(read("[3]", "float64", "f.bin:1:9999", lz4)).kind, Kind::kDecode);
}

TEST_F(BinrefReadingTest, StaysInsideItsFolder) {
  temp_.write("d.bin", "1234");
  std::filesystem::create_directory(temp_.path() / "folder");
  std::filesystem::create_symlink("/etc/passwd", temp_.path() / "link");
  for (const char* const path : {"missing", "folder", "../d.bin", "/etc/passwd", "link", "http://127.0.0.1:1/x",
                                 "file:///etc/passwd", "d.bin\\u0000", "."}) {
    EXPECT_EQ(fault_of(read("[1]", "int8", path)).kind, Kind::kDecode) << path;
  }
  EXPECT_EQ(array_of(read("[1]", "int8", "folder/../d.bin")).size(), 1);
  EXPECT_EQ(array_of(read("[1]", "int8", (temp_.path() / "d.bin").string())).size(), 1);
}

TEST_F(BinrefReadingTest, TakesNeitherEmptyTextsNorLineBreaks) {
  EXPECT_EQ(fault_of(read("[1]", "int8", "")).kind, Kind::kNonNumeric);
  EXPECT_EQ(fault_of(read("[1]", "int8", "a\\nb")).kind, Kind::kNonNumeric);
}

TEST_F(BinrefReadingTest, NeedsAnInputFolder) {
  EXPECT_EQ(fault_of(tessera::read(object("[1]", "int8", R"("buffer":"d.bin","encoding":"binref")"))).kind,
            Kind::kDecode);
}

}  // namespace
}  // namespace tessera
