// Before and at the begin: cuInit, what is visible, who may call.
#include <sys/wait.h>
#include <unistd.h>

#include "rule_test.h"

namespace tessera::driver_conformance {
namespace {

class InitRules : public RuleTest {
 protected:
  // How many devices a process sees with that CUDA_VISIBLE_DEVICES; negative is the code of cuInit.
  static int count_visible(const std::string& variable) {
    Peer peer({.environment = {"CUDA_VISIBLE_DEVICES=" + variable}, .has_own_pid_namespace = false});
    Reply begun = peer.ask({.order = Order::kInit});
    return begun.code != 0 ? -begun.code : static_cast<int>(peer.ask({.order = Order::kDeviceCount}).value);
  }
  static int device_count() {
    int count = 0;
    EXPECT_EQ(driver().cuDeviceGetCount(&count), kSuccess);
    return count;
  }
};

TEST_F(InitRules, FlagsAreRefused) {
  EXPECT_EQ(driver().cuInit(1), kInvalidValue);
}

TEST_F(InitRules, InitAgainSucceeds) {
  EXPECT_EQ(driver().cuInit(0), kSuccess);
}

TEST_F(InitRules, CallsBeforeInitAreRefused) {
  Peer peer;
  EXPECT_EQ(peer.ask({.order = Order::kDeviceCount}).code, kNotInitialized);
  EXPECT_EQ(peer.ask({.order = Order::kAllocate, .a = kPage}).code, kNotInitialized);
  EXPECT_EQ(peer.ask({.order = Order::kExport, .a = 4096}).code, kNotInitialized);
}

TEST_F(InitRules, ForkedChildIsRefused) {
  pid_t child = fork();
  if (child == 0) {
    int count = 0;
    Code again = driver().cuInit(0);
    Code asked = driver().cuDeviceGetCount(&count);
    _exit(again == kNotInitialized && asked == kNotInitialized ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(InitRules, VersionIsKnown) {
  int version = 0;
  EXPECT_EQ(driver().cuDriverGetVersion(&version), kSuccess);
  EXPECT_GE(version, 11040);
  report_answer("driver version", std::to_string(version));
}

TEST_F(InitRules, FunctionIsFoundByName) {
  void* function = nullptr;
  int status = -1;
  EXPECT_EQ(driver().cuGetProcAddress_v2("cuMemAlloc", &function, 11040, 0, &status), kSuccess);
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(status, 0);
}

TEST_F(InitRules, UnknownFunctionIsNoError) {
  void* function = this;
  int status = -1;
  EXPECT_EQ(driver().cuGetProcAddress_v2("cuNoSuchCall", &function, 11040, 0, &status), kSuccess);
  EXPECT_EQ(function, nullptr);
  EXPECT_EQ(status, 1);
}

TEST_F(InitRules, OrdinalOutOfRangeIsRefused) {
  int device = 0;
  EXPECT_EQ(driver().cuDeviceGet(&device, device_count()), kInvalidDevice);
  EXPECT_EQ(driver().cuDeviceGet(&device, -1), kInvalidDevice);
}

TEST_F(InitRules, DevicesHaveUuidsOfTheirOwn) {
  if (device_count() < 2) {
    GTEST_SKIP() << "needs two GPUs";
  }
  Uuid first{};
  Uuid second{};
  EXPECT_EQ(driver().cuDeviceGetUuid_v2(first.data(), 0), kSuccess);
  EXPECT_EQ(driver().cuDeviceGetUuid_v2(second.data(), 1), kSuccess);
  EXPECT_NE(first, second);
}

TEST_F(InitRules, UuidIsTheSameInEachProcess) {
  Peer peer;
  ASSERT_EQ(peer.ask({.order = Order::kInit}).code, kSuccess);
  Bytes64 here{};
  EXPECT_EQ(driver().cuDeviceGetUuid_v2(here.data(), 0), kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kUuid, .a = 0}).bytes, here);
}

TEST_F(InitRules, BusIdNamesTheDevice) {
  std::array<char, 32> text{};
  int device = -1;
  EXPECT_EQ(driver().cuDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), 0), kSuccess);
  EXPECT_EQ(driver().cuDeviceGetByPCIBusId(&device, text.data()), kSuccess);
  EXPECT_EQ(device, 0);
}

TEST_F(InitRules, VisibleDevicesAreThoseNamed) {
  EXPECT_EQ(count_visible("0"), 1);
  EXPECT_EQ(count_visible("0,-1,0"), 1);
  EXPECT_LT(count_visible("-1"), 0);
  report_answer("cuInit where no device is visible", -count_visible(""));
  report_answer("visible devices of 0,0", std::to_string(count_visible("0,0")));
  report_answer("visible devices of GPU-00000000", std::to_string(count_visible("GPU-00000000-0000")));
}

TEST_F(InitRules, VisibleDeviceMayBeNamedByUuid) {
  Uuid uuid{};
  ASSERT_EQ(driver().cuDeviceGetUuid_v2(uuid.data(), 0), kSuccess);
  std::string name = "GPU-";
  for (std::size_t index = 0; index < uuid.size(); ++index) {
    static constexpr char kDigits[] = "0123456789abcdef";
    name += index == 4 || index == 6 || index == 8 || index == 10 ? "-" : "";
    name += kDigits[uuid[index] >> 4];
    name += kDigits[uuid[index] & 15];
  }
  EXPECT_EQ(count_visible(name), 1);
}

}  // namespace
}  // namespace tessera::driver_conformance
