#include "tessera/array/encoding.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(EncodingTest, FindsFormatsByName) {
  EXPECT_EQ(find_output_format("json"), OutputFormat::kJson);
  EXPECT_EQ(find_output_format("json+base64"), OutputFormat::kBase64);
  EXPECT_EQ(find_output_format("json+binref"), OutputFormat::kBinref);
  EXPECT_EQ(find_output_format("JSON"), std::nullopt);
  EXPECT_EQ(find_output_format("base64"), std::nullopt);
}

TEST(EncodingTest, FindsCompressionsByName) {
  EXPECT_EQ(find_compression("none"), Compression::kNone);
  EXPECT_EQ(find_compression("lz4"), Compression::kLz4);
  EXPECT_EQ(find_compression("LZ4"), std::nullopt);
  EXPECT_EQ(find_compression(""), std::nullopt);
}

TEST(EncodingTest, NamesMediaTypes) {
  EXPECT_EQ(media_type_of(OutputFormat::kJson), "application/json");
  EXPECT_EQ(media_type_of(OutputFormat::kBinref), "application/json+binref");
}

}  // namespace
}  // namespace tessera
