#include "tessera/cuda/driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <variant>

#include "stand_in_test.h"
#include "support/child_process.h"

namespace tessera {
namespace {

using testing::ChildProcess;
using ::testing::HasSubstr;

DriverUnavailable why_not(const std::string& library) {
  auto loaded = Driver::load(library);
  if (!std::holds_alternative<DriverUnavailable>(loaded)) {
    ADD_FAILURE() << library << " was loaded";
    return {};
  }
  return std::get<DriverUnavailable>(loaded);
}

// Loads the stand-in in a process with this environment.
void expect_problem(const ChildProcess::Variables& variables, const std::string& name, const std::string& sentence) {
  ChildProcess child("load", variables);
  EXPECT_EQ(child.receive(), name);
  EXPECT_THAT(child.receive(), HasSubstr(sentence));
  EXPECT_EQ(child.finish(), 0);
}

TEST(DriverLoadTest, SaysThatThereIsNoDriver) {
  const DriverUnavailable reason = why_not("libtessera_no_such_driver.so.1");
  EXPECT_EQ(reason.problem, DriverProblem::kNoDriver);
  EXPECT_THAT(reason.sentence, HasSubstr("libtessera_no_such_driver.so.1 is not on this machine"));
}

TEST(DriverLoadTest, SaysThatTheFileIsNoLibrary) {
  const testing::TempFolder folder;
  const DriverUnavailable reason = why_not(folder.write("libcuda.so.1", "no library").string());
  EXPECT_EQ(reason.problem, DriverProblem::kNoDriver);
  EXPECT_THAT(reason.sentence, HasSubstr("cannot be loaded"));
}

TEST(DriverLoadTest, SaysThatTheLibraryIsNoDriver) {
  const DriverUnavailable reason = why_not("libm.so.6");
  EXPECT_EQ(reason.problem, DriverProblem::kSymbolMissing);
  EXPECT_THAT(reason.sentence, HasSubstr("is no CUDA driver, it has no cuInit"));
}

TEST(DriverLoadTest, KnowsTheLinkStubOfTheToolkit) {
  const std::string stub = "/usr/local/cuda/lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) {
    GTEST_SKIP() << "there is no CUDA toolkit";
  }
  const DriverUnavailable reason = why_not(stub);
  EXPECT_EQ(reason.problem, DriverProblem::kStubDriver);
  EXPECT_EQ(reason.code, 34);
  EXPECT_THAT(reason.sentence, HasSubstr("LD_LIBRARY_PATH"));
}

TEST(DriverLoadTest, LoadsADriver) {
  expect_problem({}, "loaded", "");
}

TEST(DriverLoadTest, KnowsADriverThatAnswersLikeAStub) {
  expect_problem({{"TESSERA_STAND_IN_STUB", "1"}}, "stub_driver", "stubs");
}

TEST(DriverLoadTest, SaysThatTheDriverIsTooOld) {
  expect_problem({{"TESSERA_STAND_IN_VERSION", "11030"}}, "driver_too_old", "CUDA 11.3");
  expect_problem({{"TESSERA_STAND_IN_VERSION", "11040"}}, "loaded", "");
  expect_problem({{"TESSERA_STAND_IN_FAULTS", "cuInit:*:803"}}, "driver_too_old", "kernel module");
}

TEST(DriverLoadTest, SaysThatThereIsNoGpu) {
  expect_problem({{"TESSERA_STAND_IN_DEVICES", "0"}}, "no_device", "no GPU");
  expect_problem({{"CUDA_VISIBLE_DEVICES", ""}}, "no_device", "CUDA_VISIBLE_DEVICES is ''");
  expect_problem({{"CUDA_VISIBLE_DEVICES", "9"}}, "no_device", "CUDA_VISIBLE_DEVICES is '9'");
}

TEST(DriverLoadTest, PassesOtherFailuresOn) {
  expect_problem({{"TESSERA_STAND_IN_FAULTS", "cuInit:*:800"}}, "no_permission", "permit");
  expect_problem({{"TESSERA_STAND_IN_FAULTS", "cuInit:*:999"}}, "driver_failed", "CUDA_ERROR_UNKNOWN (999)");
  expect_problem({{"TESSERA_STAND_IN_FAULTS", "cuInit:*:802"}}, "driver_failed", "fabricmanager");
}

using DriverTest = StandInTest;

TEST_F(DriverTest, KnowsItsVersionAndPath) {
  EXPECT_EQ(driver()->version(), 13000);
  EXPECT_EQ(driver()->library_path(), testing::stand_in_path());
}

TEST_F(DriverTest, NamesTheCallAndTheError) {
  const Error error = driver()->error_of("cuMemAlloc", 2);
  EXPECT_EQ(error.message(), "cuMemAlloc failed: CUDA_ERROR_OUT_OF_MEMORY (2)");
  EXPECT_EQ(error.code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(error.native_code(), 2);
  EXPECT_THAT(driver()->error_of("cuInit", 123456).message(), HasSubstr("123456"));
}

TEST_F(DriverTest, LeavesOwnersOfAForkedChildAlone) {
  std::optional<DeviceMemory> memory = allocate(1024);
  const std::uint64_t address = memory->address();
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_refused = !gpu()->memory().has_value();
    memory.reset();
    ::_exit(is_refused ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_EQ(bytes_at(address, 1024).size(), 1024U);
}

}  // namespace
}  // namespace tessera
