// Contexts: whose they are, and how long what is in them lasts.
#include "rule_test.h"

namespace tessera::driver_conformance {
namespace {

using ContextRules = RuleTest;

TEST_F(ContextRules, CallsNeedACurrentContext) {
  Address memory = allocate(kPage);
  on_new_thread([memory] {
    Address address = 0;
    std::size_t size = 0;
    Handle handle{};
    void* stream = nullptr;
    EXPECT_EQ(driver().cuMemAlloc_v2(&address, kPage), kInvalidContext);
    EXPECT_EQ(driver().cuMemGetInfo_v2(&size, &size), kInvalidContext);
    EXPECT_EQ(driver().cuCtxSynchronize(), kInvalidContext);
    EXPECT_EQ(driver().cuIpcGetMemHandle(&handle, memory), kInvalidContext);
    EXPECT_EQ(driver().cuIpcOpenMemHandle_v2(&address, handle, 1), kInvalidContext);
    EXPECT_EQ(driver().cuStreamCreate(&stream, 0), kInvalidContext);
  });
}

TEST_F(ContextRules, CurrentContextIsOfOneThread) {
  on_new_thread([] {
    int any = 0;
    void* context = &any;
    EXPECT_EQ(driver().cuCtxGetCurrent(&context), kSuccess);
    EXPECT_EQ(context, nullptr);
  });
}

TEST_F(ContextRules, RetainingDoesNotMakeCurrent) {
  on_new_thread([] {
    void* retained = nullptr;
    int any = 0;
    void* current = &any;
    EXPECT_EQ(driver().cuDevicePrimaryCtxRetain(&retained, 0), kSuccess);
    EXPECT_EQ(driver().cuCtxGetCurrent(&current), kSuccess);
    EXPECT_EQ(current, nullptr);
    EXPECT_EQ(driver().cuDevicePrimaryCtxRelease_v2(0), kSuccess);
  });
}

TEST_F(ContextRules, PoppingGivesBackTheOneBefore) {
  on_new_thread([] {
    void* context = nullptr;
    void* other = nullptr;
    EXPECT_EQ(driver().cuDevicePrimaryCtxRetain(&context, 0), kSuccess);
    EXPECT_EQ(driver().cuCtxPushCurrent_v2(context), kSuccess);
    EXPECT_EQ(driver().cuCtxGetCurrent(&other), kSuccess);
    EXPECT_EQ(other, context);
    EXPECT_EQ(driver().cuCtxPopCurrent_v2(&other), kSuccess);
    EXPECT_EQ(other, context);
    EXPECT_EQ(driver().cuCtxGetCurrent(&other), kSuccess);
    EXPECT_EQ(other, nullptr);
    EXPECT_EQ(driver().cuDevicePrimaryCtxRelease_v2(0), kSuccess);
  });
}

TEST_F(ContextRules, SettingNoneUnbinds) {
  void* context = nullptr;
  ASSERT_EQ(driver().cuCtxGetCurrent(&context), kSuccess);
  EXPECT_EQ(driver().cuCtxSetCurrent(nullptr), kSuccess);
  EXPECT_EQ(driver().cuCtxSynchronize(), kInvalidContext);
  EXPECT_EQ(driver().cuCtxSetCurrent(context), kSuccess);
}

TEST_F(ContextRules, ReleasingWhatWasNotRetainedIsRefused) {
  Peer peer;
  ASSERT_EQ(peer.ask({.order = Order::kInit}).code, kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kReleaseDevice}).code, kInvalidContext);
}

TEST_F(ContextRules, LastReleaseFreesAllocations) {
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Address address = peer.ask({.order = Order::kAllocate, .a = kPage}).value;
  EXPECT_EQ(peer.ask({.order = Order::kRange, .a = address}).code, kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kReleaseDevice}).code, kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kRetainAgain}).code, kSuccess);
  EXPECT_NE(peer.ask({.order = Order::kRange, .a = address}).code, kSuccess);
}

}  // namespace
}  // namespace tessera::driver_conformance
