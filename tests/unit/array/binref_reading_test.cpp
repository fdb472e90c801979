#include <gtest/gtest.h>

#include <filesystem>

#include "reading.h"
#include "support/temp_folder.h"
#include "tessera/array/lz4_frame.h"

namespace tessera::testing {
namespace {

using Kind = ArrayFault::Kind;

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
  EXPECT_EQ(fault_of(tessera::testing::read(object("[1]", "int8", R"("buffer":"d.bin","encoding":"binref")"))).kind,
            Kind::kDecode);
}

}  // namespace
}  // namespace tessera::testing
