#include "prepared_outputs.h"

#include <gtest/gtest.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tessera/array/binref.h"

namespace tessera {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

// A folder on a tmpfs.
class PreparedOutputsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    struct statfs facts{};
    if (::statfs("/dev/shm", &facts) != 0 || facts.f_type != TMPFS_MAGIC ||
        facts.f_bavail * static_cast<std::uint64_t>(facts.f_bsize) < 64 * kMiB) {
      GTEST_SKIP() << "there is no tmpfs with room at /dev/shm";
    }
    std::string name = "/dev/shm/tessera_prepared_XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
    folder_ = ConfinedFolder::open(path_).value();
  }
  void TearDown() override {
    if (!path_.empty()) {
      std::filesystem::remove_all(path_);
    }
  }
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename());
    }
    return names;
  }
  static bool comes_true(const std::function<bool()>& condition) {
    for (int i = 0; i < 2000 && !condition(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return condition();
  }

  std::filesystem::path path_;
  ConfinedFolder folder_ = ConfinedFolder::at("/nowhere");
};

TEST_F(PreparedOutputsTest, KeepsTwoFilesOfASizeThatWasWrittenTwice) {
  PreparedOutputs prepared(folder_, 8 * kMiB);
  EXPECT_FALSE(prepared.take(2 * kMiB).is_open());
  prepared.note_size(2 * kMiB);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(prepared.ready_bytes(), 0U);
  prepared.note_size(2 * kMiB);
  EXPECT_TRUE(comes_true([&] { return prepared.ready_bytes() == 4 * kMiB; }));
  EXPECT_TRUE(names().empty());
  const UniqueFd file = prepared.take(2 * kMiB);
  ASSERT_TRUE(file.is_open());
  struct stat facts{};
  ASSERT_EQ(::fstat(file.value(), &facts), 0);
  EXPECT_EQ(facts.st_size, static_cast<::off_t>(2 * kMiB));
  EXPECT_GE(facts.st_blocks * 512, static_cast<::off_t>(2 * kMiB));
  EXPECT_FALSE(prepared.take(2 * kMiB + 1).is_open());
  EXPECT_FALSE(prepared.take(100).is_open());
}

TEST_F(PreparedOutputsTest, GivesUpWhatIsReadyAndPreparesAgainWhenAsked) {
  PreparedOutputs prepared(folder_, 8 * kMiB);
  EXPECT_FALSE(prepared.give_up());
  prepared.note_size(2 * kMiB);
  prepared.note_size(2 * kMiB);
  ASSERT_TRUE(comes_true([&] { return prepared.ready_bytes() == 4 * kMiB; }));
  EXPECT_TRUE(prepared.give_up());
  EXPECT_EQ(prepared.ready_bytes(), 0U);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(prepared.ready_bytes(), 0U);
  prepared.note_size(2 * kMiB);
  prepared.note_size(2 * kMiB);
  EXPECT_TRUE(comes_true([&] { return prepared.ready_bytes() == 4 * kMiB; }));
}

TEST_F(PreparedOutputsTest, FollowsTheSizesOfOutputsWithinItsLimit) {
  PreparedOutputs prepared(folder_, 5 * kMiB);
  prepared.note_size(2 * kMiB);
  prepared.note_size(2 * kMiB);
  EXPECT_TRUE(comes_true([&] { return prepared.ready_bytes() == 4 * kMiB; }));
  prepared.note_size(3 * kMiB);
  prepared.note_size(3 * kMiB);
  EXPECT_TRUE(comes_true([&] { return prepared.ready_bytes() == 3 * kMiB; }));
  prepared.note_size(6 * kMiB);
  prepared.note_size(6 * kMiB);
  prepared.note_size(kMiB - 1);
  prepared.note_size(kMiB - 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(prepared.ready_bytes(), 3 * kMiB);
}

TEST_F(PreparedOutputsTest, KeepsNothingForThoseWhoAskNoMore) {
  PreparedOutputs prepared(folder_, 8 * kMiB, std::chrono::milliseconds(100));
  prepared.note_size(2 * kMiB);
  prepared.note_size(2 * kMiB);
  EXPECT_TRUE(comes_true([&] { return prepared.ready_bytes() != 0; }));
  EXPECT_TRUE(comes_true([&] { return prepared.ready_bytes() == 0; }));
}

TEST_F(PreparedOutputsTest, PreparesNothingWithoutALimitOrATmpfs) {
  PreparedOutputs off(folder_, 0);
  const ConfinedFolder elsewhere = ConfinedFolder::open("/proc").value();
  PreparedOutputs useless(elsewhere, 8 * kMiB);
  for (int i = 0; i < 3; ++i) {
    off.note_size(2 * kMiB);
    useless.note_size(2 * kMiB);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(off.ready_bytes() + useless.ready_bytes(), 0U);
}

TEST_F(PreparedOutputsTest, GivesAWriterFilesThatHoldWhatItWrites) {
  PreparedOutputs prepared(folder_, 8 * kMiB);
  const std::vector<std::byte> first(2 * kMiB, std::byte{1});
  const std::vector<std::byte> second(100, std::byte{2});
  for (int i = 0; i < 4; ++i) {
    BinrefWriter writer(folder_, "", {}, &prepared);
    const std::string one = writer.append(first, false).value();
    const std::string other = writer.append(second, false).value();
    EXPECT_EQ(other, one.substr(0, one.find(':')) + ":" + std::to_string(first.size()));
    writer.commit();
    EXPECT_EQ(std::filesystem::file_size(path_ / one.substr(0, one.find(':'))), first.size() + second.size());
    EXPECT_TRUE(i == 0 || comes_true([&] { return prepared.ready_bytes() != 0; }));
  }
  EXPECT_EQ(names().size(), 4U);
  {
    // Of a larger one the rest is taken off; one that is not kept leaves nothing.
    BinrefWriter kept(folder_, "", {}, &prepared);
    BinrefWriter dropped(folder_, "", {}, &prepared);
    const std::string reference = kept.append(std::span(first).first(kMiB), false).value();
    EXPECT_TRUE(dropped.append(std::span(first).first(kMiB), false).has_value());
    kept.commit();
    EXPECT_EQ(std::filesystem::file_size(path_ / reference.substr(0, reference.find(':'))), kMiB);
  }
  EXPECT_EQ(names().size(), 5U);
}

}  // namespace
}  // namespace tessera
