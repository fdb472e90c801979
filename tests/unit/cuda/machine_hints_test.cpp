#include "machine_hints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "support/temp_folder.h"
#include "tessera/cuda/driver_functions.h"

namespace tessera {
namespace {

using ::testing::HasSubstr;
using testing::TempFolder;

std::string no_driver(const MachineHints& hints) {
  return sentence_for(DriverProblem::kNoDriver, 0, "libcuda.so.1 is not on this machine", hints);
}

TEST(MachineHintsTest, SeesABareMachine) {
  const TempFolder root;
  const MachineHints hints = look_at_machine(root.path());
  EXPECT_FALSE(hints.is_container);
  EXPECT_FALSE(hints.has_kernel_module);
  EXPECT_FALSE(hints.has_device_files);
  EXPECT_THAT(no_driver(hints), HasSubstr("install the NVIDIA driver"));
}

TEST(MachineHintsTest, SeesAContainerWithoutGpus) {
  const TempFolder root;
  root.write(".dockerenv", "");
  const MachineHints hints = look_at_machine(root.path());
  EXPECT_TRUE(hints.is_container);
  EXPECT_THAT(no_driver(hints), HasSubstr("--gpus all on a host that has the NVIDIA driver"));
}

TEST(MachineHintsTest, SeesThatTheHostOfAContainerHasADriver) {
  const TempFolder root;
  root.write("run/.containerenv", "");
  root.write("proc/driver/nvidia/version", "NVRM");
  EXPECT_THAT(no_driver(look_at_machine(root.path())), HasSubstr("was not given: start it with --gpus all"));
}

TEST(MachineHintsTest, SeesAKernelModuleWithoutItsLibrary) {
  const TempFolder root;
  root.write("proc/driver/nvidia/version", "NVRM");
  EXPECT_THAT(no_driver(look_at_machine(root.path())), HasSubstr("install its user library"));
}

TEST(MachineHintsTest, LooksOnlyAtTheDeviceFilesThatTheDriverOpens) {
  const TempFolder root;
  root.write("dev/nvidia-modeset", "");
  root.write("dev/nvidia-caps/nvidia-cap1", "");
  EXPECT_FALSE(look_at_machine(root.path()).has_device_files);
  root.write("dev/nvidia0", "");
  EXPECT_TRUE(look_at_machine(root.path()).has_device_files);
}

TEST(MachineHintsTest, FindsADeviceFileThatCannotBeOpened) {
  if (::geteuid() == 0) {
    GTEST_SKIP() << "root may open every file";
  }
  const TempFolder root;
  const auto file = root.write("dev/nvidia-uvm", "");
  std::filesystem::permissions(file, std::filesystem::perms::none);
  EXPECT_EQ(look_at_machine(root.path()).closed_device_file, file.string());
}

TEST(MachineHintsTest, NamesTheDeviceFileThatIsClosed) {
  MachineHints hints;
  hints.closed_device_file = "/dev/nvidiactl";
  hints.user_text = "user id 7";
  for (const int code : {kCudaNoDevice, kCudaUnknown, kCudaNotPermitted, kCudaOperatingSystem}) {
    EXPECT_EQ(problem_of(code, hints), DriverProblem::kNoPermission) << code;
  }
  EXPECT_THAT(sentence_for(DriverProblem::kNoPermission, kCudaNoDevice, "", hints),
              HasSubstr("/dev/nvidiactl cannot be opened by user id 7"));
}

TEST(MachineHintsTest, TellsTheReasonsOfCuInitApart) {
  const MachineHints hints;
  EXPECT_EQ(problem_of(kCudaStubLibrary, hints), DriverProblem::kStubDriver);
  EXPECT_EQ(problem_of(kCudaNoDevice, hints), DriverProblem::kNoDevice);
  EXPECT_EQ(problem_of(kCudaInvalidDevice, hints), DriverProblem::kNoDevice);
  EXPECT_EQ(problem_of(kCudaInsufficientDriver, hints), DriverProblem::kDriverTooOld);
  EXPECT_EQ(problem_of(kCudaDriverMismatch, hints), DriverProblem::kDriverTooOld);
  EXPECT_EQ(problem_of(kCudaNotPermitted, hints), DriverProblem::kNoPermission);
  EXPECT_EQ(problem_of(kCudaUnknown, hints), DriverProblem::kFailed);
  EXPECT_EQ(problem_of(kCudaSystemNotReady, hints), DriverProblem::kFailed);
}

TEST(MachineHintsTest, BlamesTheVariableThatHidesTheGpus) {
  MachineHints hints;
  hints.has_visible_devices = true;
  hints.visible_devices = "7";
  EXPECT_THAT(sentence_for(DriverProblem::kNoDevice, kCudaNoDevice, "", hints),
              HasSubstr("CUDA_VISIBLE_DEVICES is '7'"));
}

TEST(MachineHintsTest, SaysWhatHelpsForEachFailure) {
  MachineHints hints;
  hints.has_device_files = true;
  const auto sentence = [&hints](DriverProblem problem, int code) {
    return sentence_for(problem, code, "cuInit failed", hints);
  };
  EXPECT_THAT(sentence(DriverProblem::kStubDriver, kCudaStubLibrary), HasSubstr("LD_LIBRARY_PATH"));
  EXPECT_THAT(sentence(DriverProblem::kDriverTooOld, kCudaDriverMismatch), HasSubstr("reboot"));
  EXPECT_THAT(sentence(DriverProblem::kDriverTooOld, 0), HasSubstr("CUDA 11.4"));
  EXPECT_THAT(sentence(DriverProblem::kSymbolMissing, 0), HasSubstr("update the NVIDIA driver"));
  EXPECT_THAT(sentence(DriverProblem::kFailed, kCudaNotInitialized), HasSubstr("forked"));
  EXPECT_THAT(sentence(DriverProblem::kFailed, kCudaSystemNotReady), HasSubstr("fabricmanager"));
  EXPECT_THAT(sentence(DriverProblem::kFailed, kCudaUnknown), HasSubstr("Xid"));
  EXPECT_THAT(sentence(DriverProblem::kFailed, 719), HasSubstr("nvidia-smi"));
}

}  // namespace
}  // namespace tessera
