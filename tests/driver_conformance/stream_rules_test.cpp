// Order of work, and events.
#include "rule_test.h"

namespace tessera::driver_conformance {
namespace {

constexpr unsigned kNonBlocking = 1;
constexpr unsigned kDisableTiming = 2;
constexpr unsigned kInterprocess = 4;
constexpr std::size_t kBufferBytes = 2 * kPage;

class StreamRules : public RuleTest {
 protected:
  void SetUp() override {
    RuleTest::SetUp();
    first_ = allocate(kBufferBytes);
    second_ = allocate(kBufferBytes);
  }
  void TearDown() override {
    EXPECT_EQ(driver().cuCtxSynchronize(), kSuccess);
    RuleTest::TearDown();
  }
  static void* stream(unsigned flags) {
    void* made = nullptr;
    EXPECT_EQ(driver().cuStreamCreate(&made, flags), kSuccess);
    return made;
  }
  static void* event(unsigned flags = kDisableTiming) {
    void* made = nullptr;
    EXPECT_EQ(driver().cuEventCreate(&made, flags), kSuccess);
    return made;
  }

  Address first_ = 0;
  Address second_ = 0;
};

TEST_F(StreamRules, WorkOfAStreamIsDoneInOrder) {
  void* one = stream(kNonBlocking);
  for (unsigned char value = 1; value < 6; ++value) {
    EXPECT_EQ(driver().cuMemsetD8Async(first_, value, kBufferBytes, one), kSuccess);
    EXPECT_EQ(driver().cuMemcpyDtoDAsync_v2(second_, first_, kBufferBytes, one), kSuccess);
  }
  EXPECT_EQ(driver().cuStreamSynchronize(one), kSuccess);
  EXPECT_EQ(driver().cuStreamQuery(one), kSuccess);
  EXPECT_EQ(look(second_), "all 5");
  EXPECT_EQ(driver().cuStreamDestroy_v2(one), kSuccess);
}

TEST_F(StreamRules, StreamWaitsForAnEvent) {
  void* one = stream(kNonBlocking);
  void* other = stream(kNonBlocking);
  void* done = event();
  EXPECT_EQ(driver().cuMemsetD8Async(first_, 3, kBufferBytes, one), kSuccess);
  EXPECT_EQ(driver().cuEventRecord(done, one), kSuccess);
  EXPECT_EQ(driver().cuStreamWaitEvent(other, done, 0), kSuccess);
  EXPECT_EQ(driver().cuMemcpyDtoDAsync_v2(second_, first_, kBufferBytes, other), kSuccess);
  EXPECT_EQ(driver().cuStreamSynchronize(other), kSuccess);
  EXPECT_EQ(driver().cuEventQuery(done), kSuccess);
  EXPECT_EQ(look(second_), "all 3");
  EXPECT_EQ(driver().cuEventDestroy_v2(done), kSuccess);
}

TEST_F(StreamRules, DefaultStreamWaitsForBlockingStreams) {
  void* blocking = stream(0);
  EXPECT_EQ(driver().cuMemsetD8Async(first_, 4, kBufferBytes, blocking), kSuccess);
  EXPECT_EQ(driver().cuMemcpyDtoD_v2(second_, first_, kBufferBytes), kSuccess);
  EXPECT_EQ(driver().cuStreamSynchronize(nullptr), kSuccess);
  EXPECT_EQ(look(second_), "all 4");
}

TEST_F(StreamRules, BlockingStreamsWaitForTheDefaultStream) {
  void* blocking = stream(0);
  EXPECT_EQ(driver().cuMemsetD8_v2(first_, 5, kBufferBytes), kSuccess);
  EXPECT_EQ(driver().cuMemcpyDtoDAsync_v2(second_, first_, kBufferBytes, blocking), kSuccess);
  EXPECT_EQ(driver().cuStreamSynchronize(blocking), kSuccess);
  EXPECT_EQ(look(second_), "all 5");
}

TEST_F(StreamRules, DestroyedStreamEndsItsWork) {
  void* one = stream(kNonBlocking);
  EXPECT_EQ(driver().cuMemsetD8Async(first_, 6, kBufferBytes, one), kSuccess);
  EXPECT_EQ(driver().cuStreamDestroy_v2(one), kSuccess);
  EXPECT_EQ(driver().cuCtxSynchronize(), kSuccess);
  EXPECT_EQ(look(first_), "all 6");
}

TEST_F(StreamRules, EventThatWasNotRecordedIsComplete) {
  void* never = event();
  EXPECT_EQ(driver().cuEventQuery(never), kSuccess);
  EXPECT_EQ(driver().cuEventSynchronize(never), kSuccess);
  EXPECT_EQ(driver().cuEventDestroy_v2(never), kSuccess);
}

TEST_F(StreamRules, OnlyInterprocessEventsHaveHandles) {
  void* plain = event();
  Handle handle{};
  EXPECT_NE(driver().cuIpcGetEventHandle(&handle, plain), kSuccess);
  EXPECT_EQ(driver().cuEventDestroy_v2(plain), kSuccess);
}

TEST_F(StreamRules, InterprocessEventsHaveNoTimes) {
  void* made = nullptr;
  Code code = driver().cuEventCreate(&made, kInterprocess);
  report_answer("create an interprocess event with times", code);
  Handle handle{};
  EXPECT_TRUE(code != kSuccess || driver().cuIpcGetEventHandle(&handle, made) != kSuccess);
}

TEST_F(StreamRules, OtherProcessWaitsForAnEvent) {
  if (attribute(125) == 0) {
    GTEST_SKIP() << "no IPC events here";
  }
  void* done = event(kDisableTiming | kInterprocess);
  Handle event_handle{};
  Handle memory_handle{};
  ASSERT_EQ(driver().cuIpcGetEventHandle(&event_handle, done), kSuccess);
  ASSERT_EQ(driver().cuIpcGetMemHandle(&memory_handle, first_), kSuccess);
  Peer peer;
  ASSERT_EQ(peer.start(), kSuccess);
  Reply source = peer.ask({.order = Order::kOpen, .bytes = memory_handle.bytes});
  Reply target = peer.ask({.order = Order::kAllocate, .a = kBufferBytes});
  Reply opened = peer.ask({.order = Order::kOpenEvent, .bytes = event_handle.bytes});
  ASSERT_EQ(opened.code, kSuccess);
  void* one = stream(kNonBlocking);
  EXPECT_EQ(driver().cuMemsetD8Async(first_, 7, kBufferBytes, one), kSuccess);
  EXPECT_EQ(driver().cuEventRecord(done, one), kSuccess);
  EXPECT_EQ(peer.ask({.order = Order::kCopyAfterEvent,
                      .a = opened.value,
                      .b = target.value,
                      .c = source.value,
                      .d = kBufferBytes})
                .code,
            kSuccess);
  EXPECT_EQ(describe(peer.ask({.order = Order::kRead, .a = target.value}).bytes), "all 7");
}

}  // namespace
}  // namespace tessera::driver_conformance
