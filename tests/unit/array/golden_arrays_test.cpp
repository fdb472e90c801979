// Every array of the golden vectors, in every form: what we read from it, and what we write for it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "tessera/array/array_reader.h"
#include "tessera/array/base64.h"
#include "tessera/array/lz4_frame.h"
#include "tessera/array/value_writer.h"

namespace tessera {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kFolder = TESSERA_TESTS_DIR "/vectors/arrays";

std::string read_file_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

std::string decoded_base64(std::string_view text) {
  std::string bytes(base64_decoded_size(text).value_or(0), ' ');
  EXPECT_TRUE(base64_decode(text, std::as_writable_bytes(std::span(bytes))));
  return bytes;
}

std::string bytes_of(const Array& array) {
  return {reinterpret_cast<const char*>(array.bytes().data()), array.bytes().size()};
}

class GoldenArraysTest : public ::testing::TestWithParam<DType> {
 protected:
  GoldenArraysTest()
      : document_(Json::parse(read_file_text(kFolder / (std::string(name_of(GetParam())) + ".json")))),
        raw_(read_file_text(kFolder / document_.at("raw_file").get<std::string>())) {}

  [[nodiscard]] std::string raw_of(const Json& test_case) const {
    const Json& raw = test_case.at("raw");
    return raw_.substr(raw.at("offset").get<std::size_t>(), raw.at("size").get<std::size_t>());
  }

  [[nodiscard]] static Shape shape_of(const Json& test_case) { return test_case.at("shape").get<Shape>(); }

  [[nodiscard]] Array array_of(const Json& test_case) const {
    const std::string raw = raw_of(test_case);
    Array array = Array::allocate(GetParam(), shape_of(test_case));
    std::copy_n(reinterpret_cast<const std::byte*>(raw.data()), raw.size(), array.mutable_bytes().begin());
    return array;
  }

  // What a field that takes any array reads from this text.
  [[nodiscard]] Array read(const std::string& text, const Json& test_case) const {
    const ArrayReader reader(&files_, {});
    JsonScanner scanner(text);
    std::variant<Array, ArrayFault> read = reader.read(scanner, ArraySpec{});
    scanner.expect_end();
    EXPECT_FALSE(scanner.has_fault()) << text;
    if (const auto* const fault = std::get_if<ArrayFault>(&read)) {
      ADD_FAILURE() << test_case.at("name") << ": " << fault->reason << " in " << text;
      return {};
    }
    Array array = std::get<Array>(std::move(read));
    EXPECT_EQ(array.dtype(), GetParam()) << text;
    EXPECT_EQ(array.shape(), shape_of(test_case)) << text;
    return array;
  }

  [[nodiscard]] std::string write(const Json& test_case, OutputFormat format, Compression compression) const {
    Body body;
    EXPECT_TRUE(write_value(array_of(test_case), Encoding{format, compression, "none"}, {}, body).has_value());
    return body.to_string();
  }

  Json document_;
  std::string raw_;
  ConfinedFolder files_ = ConfinedFolder::open(kFolder).value();
};

TEST_P(GoldenArraysTest, ReadsEveryForm) {
  for (const Json& test_case : document_.at("cases")) {
    for (const auto& [form, text] : test_case.at("objects").items()) {
      const bool is_lossy = form == "json" && test_case.contains("json_decodes_to_base64");
      const std::string expected =
          is_lossy ? decoded_base64(test_case.at("json_decodes_to_base64").get<std::string>()) : raw_of(test_case);
      EXPECT_EQ(bytes_of(read(text.get<std::string>(), test_case)), expected) << test_case.at("name") << " " << form;
    }
  }
}

TEST_P(GoldenArraysTest, ReadsWhatTheSdkSends) {
  for (const Json& test_case : document_.at("cases")) {
    EXPECT_EQ(bytes_of(read(test_case.at("sdk_input").get<std::string>(), test_case)), raw_of(test_case));
  }
}

TEST_P(GoldenArraysTest, WritesJsonAndBase64ToTheByte) {
  for (const Json& test_case : document_.at("cases")) {
    const Json& objects = test_case.at("objects");
    EXPECT_EQ(write(test_case, OutputFormat::kJson, Compression::kNone), objects.at("json").get<std::string>());
    EXPECT_EQ(write(test_case, OutputFormat::kBase64, Compression::kNone), objects.at("base64").get<std::string>());
    EXPECT_EQ(write(test_case, OutputFormat::kJson, Compression::kLz4), objects.at("json").get<std::string>());
  }
}

TEST_P(GoldenArraysTest, WritesFramesThatDecompressToTheArray) {
  for (const Json& test_case : document_.at("cases")) {
    Json written = Json::parse(write(test_case, OutputFormat::kBase64, Compression::kLz4));
    Json expected = Json::parse(test_case.at("objects").at("base64+lz4").get<std::string>());
    const std::string frame = decoded_base64(written.at("data").at("buffer").get<std::string>());
    std::string bytes(raw_of(test_case).size(), '?');
    ASSERT_TRUE(lz4_decompress(std::as_bytes(std::span(frame)), std::as_writable_bytes(std::span(bytes))).has_value());
    EXPECT_EQ(bytes, raw_of(test_case));
    written["data"].erase("buffer");
    expected["data"].erase("buffer");
    EXPECT_EQ(written, expected);
  }
}

std::string test_name(const ::testing::TestParamInfo<DType>& info) {
  return std::string(name_of(info.param));
}

INSTANTIATE_TEST_SUITE_P(AllTypes, GoldenArraysTest, ::testing::ValuesIn(all_dtypes()), test_name);

}  // namespace
}  // namespace tessera
