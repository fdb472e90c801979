#include "tessera/array/value_writer.h"

#include <gtest/gtest.h>

#include <limits>

#include "support/temp_folder.h"
#include "tessera/array/lz4_frame.h"

namespace tessera {
namespace {

using testing::TempFolder;

std::string json_of(const Value& value, OutputFormat format = OutputFormat::kJson) {
  Body body;
  EXPECT_TRUE(write_value(value, Encoding{format, Compression::kNone, "none"}, {}, body).has_value());
  return body.to_string();
}

std::string buffer_of(const Array& array) {
  const std::string text = json_of(array);
  const std::size_t begin = text.find("\"buffer\":") + 9;
  return text.substr(begin, text.rfind(",\"encoding\"") - begin);
}

template <class T>
Array counting(Shape shape) {
  Array array = Array::allocate(kDTypeOf<T>, std::move(shape));
  int next = 0;
  for (T& element : array.mutable_values<T>()) {
    element = static_cast<T>(next++);
  }
  return array;
}

TEST(ValueWriterTest, WritesValuesCompact) {
  const Value value(Object{{"null", nullptr},
                           {"list", List{true, false, 1, -2}},
                           {"large", UINT64_MAX},
                           {"real", 1.0},
                           {"nan", std::numeric_limits<double>::quiet_NaN()},
                           {"é\n", "a\"b"},
                           {"empty", Object{}},
                           {"none", List{}}});
  EXPECT_EQ(json_of(value), R"({"null":null,"list":[true,false,1,-2],"large":18446744073709551615,"real":1.0,)"
                            R"("nan":null,"é\n":"a\"b","empty":{},"none":[]})");
}

TEST(ValueWriterTest, WritesLongTextsAndListsWhole) {
  const List list(5000, Value("0123456789"));
  std::string expected = "[";
  for (std::size_t i = 0; i != list.size(); ++i) {
    expected += i == 0 ? "\"0123456789\"" : ",\"0123456789\"";
  }
  EXPECT_EQ(json_of(list), expected + "]");
}

TEST(ValueWriterTest, WritesAnArrayObjectWithItsKeysInOrder) {
  EXPECT_EQ(
      json_of(Array::of<double>({1, 2, 3})),
      R"({"object_type":"array","shape":[3],"dtype":"float64","data":{"buffer":[1.0,2.0,3.0],"encoding":"json"}})");
  EXPECT_EQ(
      json_of(Array::of<double>({1, 2, 3}), OutputFormat::kBase64),
      R"({"object_type":"array","shape":[3],"dtype":"float64","data":{"buffer":"AAAAAAAA8D8AAAAAAAAAQAAAAAAAAAhA",)"
      R"("encoding":"base64"}})");
}

TEST(ValueWriterTest, WritesShapesOnly) {
  EXPECT_EQ(json_of(Array::shape_only(DType::kFloat32, {4, 0})), R"({"shape":[4,0],"dtype":"float32"})");
}

TEST(ValueWriterTest, NestsListsByShape) {
  EXPECT_EQ(buffer_of(Array::scalar<std::int32_t>(-7)), "-7");
  EXPECT_EQ(buffer_of(counting<std::int8_t>({2, 3})), "[[0,1,2],[3,4,5]]");
  EXPECT_EQ(buffer_of(counting<std::uint16_t>({2, 1, 2})), "[[[0,1]],[[2,3]]]");
  EXPECT_EQ(buffer_of(counting<bool>({1, 2})), "[[false,true]]");
}

TEST(ValueWriterTest, NestsEmptyListsByShape) {
  EXPECT_EQ(buffer_of(counting<float>({0})), "[]");
  EXPECT_EQ(buffer_of(counting<float>({2, 0, 3})), "[[],[]]");
  EXPECT_EQ(buffer_of(counting<float>({0, 3})), "[]");
}

TEST(ValueWriterTest, RefusesEmptyArraysOfAbsurdlyManyRows) {
  Body body;
  const Array array = Array::allocate(DType::kInt8, {1000000000, 0});
  EXPECT_EQ(write_value(array, Encoding{}, {}, body).error().code(), ErrorCode::kTooLarge);
}

TEST(ValueWriterTest, WritesJsonOverManySegments) {
  const Array array = counting<std::int64_t>({300, 300});
  std::string expected;
  for (int i = 0; i != 90000; ++i) {
    expected += std::string(i % 300 == 0 ? (i == 0 ? "[[" : "],[") : ",") + std::to_string(i);
  }
  EXPECT_EQ(buffer_of(array), expected + "]]");
}

TEST(ValueWriterTest, WritesBase64OfEverySizeAlike) {
  for (const std::int64_t size : {0, 1, 2, 1535, 1536, 1537, 100000}) {
    const Array array = counting<std::uint8_t>({size});
    const std::string text = json_of(array, OutputFormat::kBase64);
    const std::size_t begin = text.find(R"("buffer":")") + 10;
    EXPECT_EQ(text.rfind(R"(","encoding":"base64"}})") - begin, static_cast<std::size_t>((size + 2) / 3 * 4));
  }
}

TEST(ValueWriterTest, NeedsFilesForBinref) {
  Body body;
  const Status status =
      write_value(Array::of<float>({1}), Encoding{OutputFormat::kBinref, Compression::kNone, "none"}, {}, body);
  EXPECT_EQ(status.error().code(), ErrorCode::kInternal);
}

TEST(ValueWriterTest, WritesBinrefFilesInTheOrderOfTheDocument) {
  const TempFolder temp;
  const ConfinedFolder folder = ConfinedFolder::open(temp.path()).value();
  BinrefWriter files(folder, "", nullptr);
  Body body;
  const List arrays{Array::of<float>({1}), Array::of<std::uint8_t>({7})};
  ASSERT_TRUE(write_value(arrays, Encoding{OutputFormat::kBinref, Compression::kNone, "none"}, {.files = &files}, body)
                  .has_value());
  const std::string text = body.to_string();
  const std::string name = text.substr(text.find(".bin") - 36, 40);
  EXPECT_EQ(text,
            R"([{"object_type":"array","shape":[1],"dtype":"float32","data":{"buffer":")" + name +
                R"(:0","encoding":"binref"}},{"object_type":"array","shape":[1],"dtype":"uint8","data":{"buffer":")" +
                name + R"(:4","encoding":"binref"}}])");
  EXPECT_EQ(temp.read(name), std::string("\0\0\x80\x3f\x07", 5));
}

TEST(ValueWriterTest, CompressesBinrefArrays) {
  const TempFolder temp;
  const ConfinedFolder folder = ConfinedFolder::open(temp.path()).value();
  BinrefWriter files(folder, "", nullptr);
  Body body;
  const Array array = Array::zeros(DType::kFloat64, {1000});
  ASSERT_TRUE(write_value(array, Encoding{OutputFormat::kBinref, Compression::kLz4, "none"}, {.files = &files}, body)
                  .has_value());
  const std::string text = body.to_string();
  EXPECT_NE(text.find(R"(,"encoding":"binref","compression":"lz4"}})"), std::string::npos);
  const std::string frame = temp.read(text.substr(text.find(".bin") - 36, 40));
  EXPECT_NE(text.find(":0:" + std::to_string(frame.size()) + "\""), std::string::npos);
  std::vector<std::byte> decompressed(array.size_bytes(), std::byte{1});
  ASSERT_TRUE(lz4_decompress(std::as_bytes(std::span(frame)), decompressed).has_value());
  EXPECT_EQ(decompressed, std::vector<std::byte>(array.size_bytes()));
}

}  // namespace
}  // namespace tessera
