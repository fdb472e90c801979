#include "tessera/base/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <limits>
#include <thread>

#include "support/temp_folder.h"
#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

using testing::TempFolder;

TEST(FileTest, ReadsWhatWasWritten) {
  const TempFolder folder;
  const std::string content("a\0b\xFF", 4);
  ASSERT_TRUE(write_file(folder.path() / "file", content).has_value());
  EXPECT_EQ(read_file(folder.path() / "file", 4).value(), content);
}

TEST(FileTest, WritingReplacesLongerFile) {
  const TempFolder folder;
  folder.write("file", "a long content");
  ASSERT_TRUE(write_file(folder.path() / "file", "short").has_value());
  EXPECT_EQ(folder.read("file"), "short");
}

TEST(FileTest, ReadsEmptyFile) {
  const TempFolder folder;
  EXPECT_EQ(read_file(folder.write("file", ""), 0).value(), "");
}

TEST(FileTest, ReadsFileThatDoesNotTellItsSize) {
  EXPECT_FALSE(read_file("/proc/self/status", 1U << 20U).value().empty());
}

TEST(FileTest, RefusesFileBeyondLimit) {
  const TempFolder folder;
  const Result<std::string> content = read_file(folder.write("file", "12345"), 4);
  ASSERT_FALSE(content.has_value());
  EXPECT_EQ(content.error().code(), ErrorCode::kTooLarge);
  EXPECT_EQ(content.error().message(), "file '" + (folder.path() / "file").string() + "' has more than 4 bytes");
}

TEST(FileTest, RefusesEndlessFileAtLimit) {
  EXPECT_EQ(read_file("/dev/zero", 1000).error().code(), ErrorCode::kTooLarge);
}

TEST(FileTest, TellsMissingFileFromFolder) {
  const TempFolder folder;
  EXPECT_EQ(read_file(folder.path() / "none", 10).error().code(), ErrorCode::kNotFound);
  EXPECT_EQ(read_file(folder.path(), 10).error().code(), ErrorCode::kInvalidArgument);
}

TEST(FileTest, ReportsWriteIntoMissingFolder) {
  const TempFolder folder;
  EXPECT_EQ(write_file(folder.path() / "none" / "file", "x").error().code(), ErrorCode::kNotFound);
}

TEST(FileTest, WriteAllGoesOnAfterShortWrites) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const std::string content(1U << 20U, 'x');
  std::string received;
  std::jthread reader([&received, read_end = ends[0]] {
    const UniqueFd owner = UniqueFd::adopt(read_end);
    std::array<char, 5000> piece{};
    ssize_t count = 0;
    while ((count = ::read(owner.value(), piece.data(), piece.size())) > 0) {
      received.append(piece.data(), static_cast<std::size_t>(count));
    }
  });
  {
    const UniqueFd write_end = UniqueFd::adopt(ends[1]);
    ASSERT_TRUE(write_all(write_end.value(), std::as_bytes(std::span(content))).has_value());
  }
  reader.join();
  EXPECT_EQ(received, content);
}

TEST(FileTest, ReadAtTellsHowManyBytesThereWere) {
  const TempFolder folder;
  const UniqueFd file = UniqueFd::adopt(::open(folder.write("file", "0123456789").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 4> into{};
  EXPECT_EQ(read_at(file.value(), 3, std::as_writable_bytes(std::span(into))).value(), 4U);
  EXPECT_EQ(std::string_view(into.data(), 4), "3456");
  EXPECT_EQ(read_at(file.value(), 8, std::as_writable_bytes(std::span(into))).value(), 2U);
  EXPECT_EQ(read_at(file.value(), 100, std::as_writable_bytes(std::span(into))).value(), 0U);
}

TEST(FileTest, ReadAtRefusesOffsetBeyondAnyFile) {
  const TempFolder folder;
  const UniqueFd file = UniqueFd::adopt(::open(folder.write("file", "x").c_str(), O_RDONLY | O_CLOEXEC));
  std::array<std::byte, 1> into{};
  EXPECT_EQ(read_at(file.value(), std::numeric_limits<std::uint64_t>::max(), into).error().code(),
            ErrorCode::kInvalidArgument);
}

TEST(FileTest, SystemErrorNamesCallAndReason) {
  const Error error = system_error("cannot read 'x'", ENOENT);
  EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  EXPECT_EQ(error.native_code(), ENOENT);
  EXPECT_EQ(error.message(), "cannot read 'x': No such file or directory");
  EXPECT_EQ(system_error("x", ENOSPC).code(), ErrorCode::kUnavailable);
  EXPECT_EQ(system_error("x", EIO).code(), ErrorCode::kInternal);
}

}  // namespace
}  // namespace tessera
