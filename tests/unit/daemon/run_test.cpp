#include "tessera/daemon/run.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <regex>
#include <string>

#include "support/manual_clock.h"
#include "support/temp_folder.h"

namespace tessera {
namespace {

using testing::ManualClock;
using testing::TempFolder;

// Test fixtures have a member of the name Run.
using RunPtr = std::unique_ptr<Run>;

class RunTest : public ::testing::Test {
 protected:
  RunPtr make(const std::string& folder) { return tessera::Run::make(output_, folder, clock_); }

  TempFolder folder_;
  ManualClock clock_;
  ConfinedFolder output_ = *ConfinedFolder::open(folder_.path());
};

TEST_F(RunTest, MakesNoFolderUntilSomethingGoesIntoIt) {
  const RunPtr run = make("run_1");
  EXPECT_FALSE(run->has_folder());
  EXPECT_FALSE(folder_.has("run_1"));
  run->log("first");
  EXPECT_TRUE(run->has_folder());
  EXPECT_EQ(folder_.read("run_1/logs/tesseract.log"), "first\n");
}

TEST_F(RunTest, MakesAllFilesAtOnce) {
  ASSERT_TRUE(make("run_1")->make_folder());
  EXPECT_EQ(folder_.read("run_1/logs/tesseract.log"), "");
  EXPECT_EQ(folder_.read("run_1/logs/metrics.csv"), "timestamp,key,value,step\r\n");
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path() / "run_1/logs/artifacts"));
  EXPECT_FALSE(folder_.has("run_1/logs/parameters.json"));
}

TEST_F(RunTest, WritesToTheOutputPathItselfForTheCommandLine) {
  ASSERT_TRUE(make("")->make_folder());
  EXPECT_TRUE(folder_.has("logs/tesseract.log"));
}

TEST_F(RunTest, StartsLogAndMetricsAnew) {
  make("run_1")->log("one");
  make("run_1")->log("two");
  EXPECT_EQ(folder_.read("run_1/logs/tesseract.log"), "two\n");
}

TEST_F(RunTest, RecordsMetricsInLocalTimeWithAStepForEachKey) {
  const RunPtr run = make("run_1");
  clock_.advance(std::chrono::microseconds(381096));
  run->log_metric("loss", 0.5);
  run->log_metric("loss", 0.25);
  run->log_metric("a,\"b\"", 1e40, 7);
  run->log_metric("a,\"b\"", 3.0);
  const std::time_t start = Clock::WallTime::clock::to_time_t(ManualClock().wall_now());
  std::tm local{};
  localtime_r(&start, &local);
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S.381096,", &local);
  const std::string time(text.data(), size);
  EXPECT_EQ(folder_.read("run_1/logs/metrics.csv"), "timestamp,key,value,step\r\n" + time + "loss,0.5,0\r\n" + time +
                                                        "loss,0.25,1\r\n" + time + "\"a,\"\"b\"\"\",1e+40,7\r\n" +
                                                        time + "\"a,\"\"b\"\"\",3.0,1\r\n");
}

TEST_F(RunTest, WritesAllParametersWithAnIndent) {
  const RunPtr run = make("run_1");
  run->log_parameter("rate", 0.1);
  run->log_parameter("name", "\xc3\xa4\"");
  run->log_parameter("deep", Object{{"on", true}, {"sizes", List{1, 2}}, {"none", List{}}});
  run->log_parameter("rate", 2);
  EXPECT_EQ(folder_.read("run_1/logs/parameters.json"),
            "{\n  \"rate\": 2,\n  \"name\": \"\xc3\xa4\\\"\",\n  \"deep\": {\n    \"on\": true,\n    \"sizes\": [\n"
            "      1,\n      2\n    ],\n    \"none\": []\n  }\n}");
}

TEST_F(RunTest, WritesOnlyUtf8IntoItsFiles) {
  const RunPtr run = make("run_1");
  run->log("line \xff");
  run->log_metric("m\xff", 1.0, 0);
  run->log_parameter("p\xff", Object{{"k\xff", "v\xff"}});
  EXPECT_EQ(folder_.read("run_1/logs/tesseract.log"), "line \uFFFD\n");
  EXPECT_NE(folder_.read("run_1/logs/metrics.csv").find(",m\uFFFD,1.0,0"), std::string::npos);
  EXPECT_EQ(folder_.read("run_1/logs/parameters.json"), "{\n  \"p\uFFFD\": {\n    \"k\uFFFD\": \"v\uFFFD\"\n  }\n}");
}

TEST_F(RunTest, CopiesArtifacts) {
  const std::string content(200000, 'x');
  const std::filesystem::path source = folder_.write("elsewhere/mesh.vtk", content);
  make("run_1")->log_artifact(source);
  EXPECT_EQ(folder_.read("run_1/logs/artifacts/mesh.vtk"), content);
}

TEST_F(RunTest, ThrowsForAnArtifactThatIsNotThere) {
  EXPECT_THROW(make("run_1")->log_artifact(folder_.path() / "none"), std::runtime_error);
}

TEST_F(RunTest, RemovesItsFolderIfNothingWentIntoIt) {
  const RunPtr run = make("run_deep/down");
  ASSERT_TRUE(run->make_folder());
  run->remove_empty_folder();
  EXPECT_FALSE(run->has_folder());
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run_deep"));
  run->log("a later line");
  EXPECT_EQ(folder_.read("run_deep/down/logs/tesseract.log"), "a later line\n");
}

TEST_F(RunTest, KeepsAFolderThatSomethingWentInto) {
  const RunPtr with_line = make("run_1");
  with_line->log("line");
  const RunPtr with_metric = make("run_2");
  with_metric->log_metric("loss", 0.5, std::nullopt);
  const RunPtr with_artifact = make("run_3");
  with_artifact->log_artifact(folder_.write("elsewhere/mesh.vtk", "content"));
  const RunPtr with_array = make("run_4");
  ASSERT_TRUE(with_array->make_folder());
  const std::filesystem::path array = folder_.write("run_4/array.bin", "content");
  for (const RunPtr* run : {&with_line, &with_metric, &with_artifact, &with_array}) {
    (*run)->remove_empty_folder();
  }
  EXPECT_EQ(folder_.read("run_1/logs/tesseract.log"), "line\n");
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "run_2/logs/metrics.csv"));
  EXPECT_TRUE(std::filesystem::exists(folder_.path() / "run_3/logs/artifacts/mesh.vtk"));
  EXPECT_TRUE(std::filesystem::exists(array));
}

TEST_F(RunTest, LeavesNothingOfAFolderThatCannotBeMadeWhole) {
  // As a full disk would: the last of its files is refused.
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const tessera::Status made = make("run_deep/down")->make_folder();
  (void)::setrlimit(RLIMIT_FSIZE, &before);
  (void)std::signal(SIGXFSZ, handler);
  EXPECT_FALSE(made);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() / "run_deep"));
}

TEST_F(RunTest, DoesNotFollowALinkOutOfTheOutputPath) {
  const TempFolder elsewhere;
  std::filesystem::create_directory_symlink(elsewhere.path(), folder_.path() / "run_1");
  EXPECT_FALSE(make("run_1")->make_folder());
  EXPECT_THROW(make("run_1")->log("line"), std::runtime_error);
  EXPECT_TRUE(std::filesystem::is_empty(elsewhere.path()));
}

TEST_F(RunTest, TellsOnceWhenItsLogIsMade) {
  const RunPtr run = make("run_1");
  int calls = 0;
  run->watch_log([&calls](int log) { calls += log >= 0 ? 1 : 100; });
  EXPECT_EQ(calls, 0);
  ASSERT_TRUE(run->make_folder());
  ASSERT_TRUE(run->make_folder());
  EXPECT_EQ(calls, 1);
}

TEST(RunFolderNameTest, IsTheIdBehindAPrefix) {
  EXPECT_EQ(*tessera::Run::folder_name("j1"), "run_j1");
  EXPECT_EQ(*tessera::Run::folder_name("a b/c"), "run_a b/c");
  EXPECT_EQ(*tessera::Run::folder_name(".."), "run_..");
}

TEST(RunFolderNameTest, IsANewUuidWithoutAnId) {
  const std::regex uuid("run_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}");
  EXPECT_TRUE(std::regex_match(*tessera::Run::folder_name(std::nullopt), uuid));
  EXPECT_NE(*tessera::Run::folder_name(std::nullopt), *tessera::Run::folder_name(std::nullopt));
}

TEST(RunFolderNameTest, RefusesWhatIsNoFolderOfItsOwn) {
  for (const std::string& id : {std::string(), std::string("x/../../y"), std::string("x/.."), std::string("a\0b", 3),
                                std::string("a\nb"), std::string("\x1b[2J"), std::string("a\x7f"),
                                std::string(300, 'a'), std::string(600, '/') + std::string(600, 'a')}) {
    const Result<std::string> name = tessera::Run::folder_name(id);
    ASSERT_FALSE(name) << id;
    EXPECT_EQ(name.error().code(), ErrorCode::kInvalidArgument);
  }
}

TEST(RunFolderNameTest, RefusesWhatLeadsIntoTheLogsOfARun) {
  for (const char* id : {"a/logs", "a/logs/", "a//logs", "a/./logs", "a/b/logs", "a/logs/artifacts", "logs/logs",
                         "a/logs/parameters.json", "a/logs/b"}) {
    const Result<std::string> name = tessera::Run::folder_name(id);
    ASSERT_FALSE(name) << id;
    EXPECT_EQ(name.error().code(), ErrorCode::kInvalidArgument);
    EXPECT_EQ(name.error().message(), "run_id must not lead into the logs of a run");
  }
  for (const std::string id : {"logs", "logs/a", "a/logs2", "a/mylogs", "a/Logs"}) {
    EXPECT_EQ(*tessera::Run::folder_name(id), "run_" + id);
  }
}

}  // namespace
}  // namespace tessera
