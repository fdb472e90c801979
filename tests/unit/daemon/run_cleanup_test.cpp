#include "run_cleanup.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "support/temp_folder.h"

namespace tessera {
namespace {

using std::chrono::hours;
using testing::TempFolder;

class RunCleanupTest : public ::testing::Test {
 protected:
  void make_run(const std::string& name, hours age) {
    folder_.write(name + "/logs/tesseract.log", "text");
    for (const char* part : {"logs/tesseract.log", "logs", "."}) {
      std::filesystem::last_write_time(folder_.path() / name / part,
                                       std::filesystem::file_time_type::clock::now() - age);
    }
  }

  int remove_after(hours age) { return cleanup_.remove_older_than(age, Clock::WallTime::clock::now()); }

  TempFolder folder_;
  ConfinedFolder output_ = *ConfinedFolder::open(folder_.path());
  RunCleanup cleanup_{output_};
};

TEST_F(RunCleanupTest, RemovesOldRunsAndKeepsYoungOnes) {
  make_run("run_old", hours(3));
  make_run("run_young", hours(1));
  EXPECT_EQ(remove_after(hours(2)), 1);
  EXPECT_FALSE(folder_.has("run_old"));
  EXPECT_TRUE(folder_.has("run_young"));
}

TEST_F(RunCleanupTest, KeepsARunWhoseLogStillGrows) {
  make_run("run_long", hours(3));
  std::filesystem::last_write_time(folder_.path() / "run_long/logs/tesseract.log",
                                   std::filesystem::file_time_type::clock::now());
  EXPECT_EQ(remove_after(hours(2)), 0);
}

TEST_F(RunCleanupTest, KeepsARunThatIsGoingOn) {
  make_run("run_busy", hours(3));
  cleanup_.begin("run_busy/part");
  cleanup_.begin("run_busy");
  cleanup_.end("run_busy");
  EXPECT_EQ(remove_after(hours(2)), 0);
  cleanup_.end("run_busy/part");
  EXPECT_EQ(remove_after(hours(2)), 1);
}

TEST_F(RunCleanupTest, LeavesEverythingElseAlone) {
  make_run("results", hours(3));
  make_run("sub/run_old", hours(3));
  folder_.write("run_file", "not a folder");
  std::filesystem::last_write_time(folder_.path() / "run_file",
                                   std::filesystem::file_time_type::clock::now() - hours(3));
  EXPECT_EQ(remove_after(hours(2)), 0);
  EXPECT_TRUE(folder_.has("results/logs/tesseract.log"));
  EXPECT_TRUE(folder_.has("sub/run_old/logs"));
}

TEST_F(RunCleanupTest, NeverFollowsALink) {
  const TempFolder elsewhere;
  elsewhere.write("precious", "text");
  std::filesystem::create_directory_symlink(elsewhere.path(), folder_.path() / "run_link");
  make_run("run_old", hours(3));
  std::filesystem::create_directory_symlink(elsewhere.path(), folder_.path() / "run_old/link");
  std::filesystem::last_write_time(folder_.path() / "run_old",
                                   std::filesystem::file_time_type::clock::now() - hours(3));
  EXPECT_EQ(cleanup_.remove_older_than(hours(2), Clock::WallTime::clock::now() + hours(100)), 1);
  EXPECT_FALSE(folder_.has("run_old"));
  EXPECT_TRUE(elsewhere.has("precious"));
}

}  // namespace
}  // namespace tessera
