#include "tessera/array/binref.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "support/temp_folder.h"

namespace tessera {
namespace {

using testing::TempFolder;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// Of a text that must be a reference.
BinrefReference parsed(std::string_view text) {
  const std::optional<BinrefReference> reference = parse_binref(text);
  EXPECT_TRUE(reference.has_value()) << text;
  return reference.value_or(BinrefReference{});
}

TEST(BinrefReferenceTest, RefusesLineBreaksAndNumbersBeyond64Bits) {
  EXPECT_FALSE(parse_binref("a\nb").has_value());
  EXPECT_FALSE(parse_binref("a:18446744073709551616").has_value());
  EXPECT_FALSE(parse_binref("a:18446744073709551616:1").has_value());
  EXPECT_EQ(parsed("a:18446744073709551615").offset_bytes, UINT64_MAX);
}

class BinrefWriterTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::size_t file_count(const std::string& name = "") const {
    const std::filesystem::directory_iterator files(temp_.path() / name);
    return static_cast<std::size_t>(
        std::count_if(begin(files), end(files), [](const auto& entry) { return entry.is_regular_file(); }));
  }

  TempFolder temp_;
  ConfinedFolder folder_ = ConfinedFolder::open(temp_.path()).value();
};

TEST_F(BinrefWriterTest, AppendsToOneFileAndNamesOffsets) {
  BinrefWriter writer(folder_, "", nullptr);
  const std::string first = writer.append(bytes_of("abc"), false).value();
  const std::string second = writer.append(bytes_of("defgh"), true).value();
  writer.commit();
  ASSERT_THAT(first, ::testing::MatchesRegex("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\\.bin:0"));
  const std::string name = first.substr(0, first.size() - 2);
  EXPECT_EQ(second, name + ":3:5");
  EXPECT_EQ(temp_.read(name), "abcdefgh");
}

TEST_F(BinrefWriterTest, MakesAFileForAnEmptyArray) {
  BinrefWriter writer(folder_, "", nullptr);
  EXPECT_TRUE(writer.append({}, false).has_value());
  writer.commit();
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(BinrefWriterTest, MakesItsSubfolderOnceAndOnlyForAFile) {
  int calls = 0;
  const auto make = [this, &calls] {
    ++calls;
    return folder_.create_folders("run_1");
  };
  {
    const BinrefWriter unused(folder_, "run_1", make);
  }
  EXPECT_EQ(calls, 0);
  BinrefWriter writer(folder_, "run_1", make);
  EXPECT_EQ(writer.append(bytes_of("x"), false).value().substr(0, 6), "run_1/");
  EXPECT_TRUE(writer.append(bytes_of("y"), false).has_value());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(file_count("run_1"), 1U);
}

TEST_F(BinrefWriterTest, RemovesItsFilesUnlessCommitted) {
  {
    BinrefWriter writer(folder_, "", nullptr);
    EXPECT_TRUE(writer.append(bytes_of("x"), false).has_value());
    EXPECT_EQ(file_count(), 1U);
  }
  EXPECT_EQ(file_count(), 0U);
}

TEST_F(BinrefWriterTest, PassesErrorsOn) {
  BinrefWriter no_subfolder(folder_, "missing", nullptr);
  EXPECT_FALSE(no_subfolder.append(bytes_of("x"), false).has_value());
  BinrefWriter refused(folder_, "x", [] { return Status(Error(ErrorCode::kInternal, "no room")); });
  EXPECT_EQ(refused.append(bytes_of("x"), false).error().message(), "no room");
}

TEST_F(BinrefWriterTest, BeginsANewFileBehindAFullOne) {
  // PROTOCOL.md section 16, P46.
  const std::vector<std::byte> large(std::size_t{60} << 20);
  BinrefWriter writer(folder_, "", nullptr);
  const std::string first = writer.append(large, false).value();
  const std::string second = writer.append(large, false).value();
  const std::string third = writer.append(bytes_of("12345678"), false).value();
  EXPECT_EQ(parsed(second).path, parsed(first).path);
  EXPECT_EQ(parsed(second).offset_bytes, 62914560U);
  EXPECT_NE(parsed(third).path, parsed(first).path);
  EXPECT_EQ(parsed(third).offset_bytes, 0U);
}

}  // namespace
}  // namespace tessera
