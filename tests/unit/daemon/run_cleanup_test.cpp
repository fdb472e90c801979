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
    folder_.write(name + "/logs/metrics.csv", "text");
    std::filesystem::create_directory(folder_.path() / name / "logs/artifacts");
    make_older(name, age);
  }

  void make_older(const std::string& name, hours age) {
    const auto time = std::filesystem::file_time_type::clock::now() - age;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path() / name)) {
      if (!entry.is_symlink()) {
        std::filesystem::last_write_time(entry.path(), time);
      }
    }
    std::filesystem::last_write_time(folder_.path() / name, time);
  }

  /// With the wall clock set ahead by so much since the process began, or back.
  int remove_after(hours age, hours set_ahead = hours(0)) {
    const Clock::WallTime now = Clock::WallTime::clock::now();
    return cleanup_.remove_older_than(age, {.by_wall_clock = now, .by_steady_clock = now - set_ahead});
  }

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

TEST_F(RunCleanupTest, AClockThatWasSetAheadMakesNoRunOld) {
  make_run("run_before", hours(11));  // one hour before the clock was set ahead by ten
  make_run("run_after", hours(1));
  make_run("run_old", hours(13));
  EXPECT_EQ(remove_after(hours(2), hours(10)), 1);
  EXPECT_FALSE(folder_.has("run_old"));
}

TEST_F(RunCleanupTest, RunsSinceAClockWasSetAheadGoInTime) {
  make_run("run_after", hours(3));
  EXPECT_EQ(remove_after(hours(2), hours(10)), 1);
}

TEST_F(RunCleanupTest, AClockThatWasSetBackKeepsNoRunForEver) {
  make_run("run_before", -hours(7));  // three hours before the clock was set back by ten
  make_run("run_young", -hours(9));
  make_run("run_after", hours(1));
  EXPECT_EQ(remove_after(hours(2), -hours(10)), 1);
  EXPECT_FALSE(folder_.has("run_before"));
  EXPECT_TRUE(folder_.has("run_young"));
  EXPECT_TRUE(folder_.has("run_after"));
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
  std::filesystem::create_directory_symlink(elsewhere.path(), folder_.path() / "run_old/logs/artifacts/link");
  make_older("run_old", hours(100));
  EXPECT_EQ(remove_after(hours(2)), 0);
  EXPECT_TRUE(folder_.has("run_link"));
  EXPECT_TRUE(elsewhere.has("precious"));
}

TEST_F(RunCleanupTest, RemovesAllThatARunMakes) {
  make_run("run_all", hours(0));
  folder_.write("run_all/logs/parameters.json", "{}");
  folder_.write("run_all/logs/artifacts/mesh.vtk", "mesh");
  folder_.write("run_all/5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab.bin", "array");
  make_older("run_all", hours(3));
  make_run("run_with/slashes/in it", hours(3));
  make_older("run_with", hours(3));
  EXPECT_EQ(remove_after(hours(2)), 2);
  EXPECT_FALSE(folder_.has("run_all"));
  EXPECT_FALSE(folder_.has("run_with"));
}

TEST_F(RunCleanupTest, KeepsFoldersOfTheUserThatAreNamedLikeRuns) {
  folder_.write("run_2024/thesis.tex", "years of work");
  folder_.write("run_data/logs/tesseract.log", "a log, but not all that a run has");
  std::filesystem::create_directory(folder_.path() / "run_empty");
  for (const char* foreign : {"notes.txt", "logs/notes.txt", "logs/artifacts/folder/file", "more/data.bin",
                              "weights.bin", "more/logs/tesseract.log"}) {
    make_run("run_mine", hours(0));
    folder_.write(std::string("run_mine/") + foreign, "mine");
    for (const char* name : {"run_2024", "run_data", "run_empty", "run_mine"}) {
      make_older(name, hours(3));
    }
    EXPECT_EQ(remove_after(hours(2)), 0) << foreign;
    EXPECT_EQ(folder_.read(std::string("run_mine/") + foreign), "mine");
    std::filesystem::remove_all(folder_.path() / "run_mine");
  }
}

}  // namespace
}  // namespace tessera
