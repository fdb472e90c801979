#include "tessera/cuda/device_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <thread>
#include <vector>

#include "stand_in_test.h"
#include "support/manual_clock.h"

namespace tessera {
namespace {

constexpr std::size_t kPage = DevicePool::kGranularityBytes;

class DevicePoolTest : public StandInTest {
 protected:
  void make(std::uint64_t idle_limit_bytes = 64 * kPage) {
    pool_ = DevicePool::make(gpu(), idle_limit_bytes, std::chrono::seconds(30), clock_);
  }
  [[nodiscard]] std::shared_ptr<PooledMemory> take(std::size_t size_bytes) const {
    return pool_->allocate(size_bytes).value();
  }
  // What the next user of the buffer finds.
  [[nodiscard]] std::vector<std::byte> content(const std::shared_ptr<PooledMemory>& memory) const {
    return bytes_at(memory->address(), memory->capacity_bytes());
  }
  void fill(const std::shared_ptr<PooledMemory>& memory, std::size_t size_bytes) const {
    const std::vector<std::byte> bytes(size_bytes, std::byte{0xAB});
    ASSERT_TRUE(copy_to_device(*gpu(), memory->address(), bytes).has_value());
  }
  static bool is_zero_from(const std::vector<std::byte>& bytes, std::size_t begin) {
    return std::all_of(bytes.begin() + static_cast<std::ptrdiff_t>(begin), bytes.end(),
                       [](std::byte byte) { return byte == std::byte{0}; });
  }

  testing::ManualClock clock_;
  std::shared_ptr<DevicePool> pool_;
};

TEST_F(DevicePoolTest, GivesWholePages) {
  make();
  EXPECT_EQ(take(1)->capacity_bytes(), kPage);
  EXPECT_EQ(take(kPage)->capacity_bytes(), kPage);
  EXPECT_EQ(take(kPage + 1)->capacity_bytes(), 2 * kPage);
}

TEST_F(DevicePoolTest, WastesAtMostAnEighth) {
  make();
  for (std::size_t size = 40 * kPage - 3; size < 80 * kPage; size += 3 * kPage + 1) {
    const std::size_t capacity = take(size)->capacity_bytes();
    EXPECT_EQ(capacity % kPage, 0U);
    EXPECT_LE(capacity - size, size / 8);
  }
}

TEST_F(DevicePoolTest, UsesABufferAgainWithItsHandle) {
  make();
  std::shared_ptr<PooledMemory> memory = take(100);
  const std::uint64_t address = memory->address();
  const IpcMemHandle handle = memory->handle().value();
  memory = nullptr;
  memory = take(5000);
  EXPECT_EQ(memory->address(), address);
  EXPECT_EQ(memory->handle().value(), handle);
  EXPECT_EQ(pool_->stats().allocations, 1U);
  EXPECT_EQ(pool_->stats().reuses, 1U);
  EXPECT_EQ(pool_->stats().handles_taken, 1U);
}

TEST_F(DevicePoolTest, DoesNotUseAMuchLargerBuffer) {
  make();
  (void)take(8 * kPage);
  EXPECT_EQ(take(kPage)->capacity_bytes(), kPage);
  EXPECT_EQ(take(7 * kPage)->capacity_bytes(), 8 * kPage);
}

TEST_F(DevicePoolTest, PrefersTheSmallestThatFits) {
  make();
  {
    const auto large = take(10 * kPage);
    const auto small = take(9 * kPage);
  }
  EXPECT_EQ(take(9 * kPage)->capacity_bytes(), 9 * kPage);
}

TEST_F(DevicePoolTest, ClearsWhatLiesBehindTheArray) {
  make();
  std::shared_ptr<PooledMemory> memory = take(kPage);
  fill(memory, kPage);
  memory = nullptr;
  memory = take(100);
  EXPECT_TRUE(is_zero_from(content(memory), 100));
}

// The driver clears what another process freed, not what this one did; the stand-in always hands out zeros.
TEST_F(DevicePoolTest, ClearsWhatLiesBehindTheArrayOfANewBuffer) {
  make();
  const std::int64_t before = stand_in().calls("cuMemsetD8Async");
  const std::shared_ptr<PooledMemory> memory = take(100);
  EXPECT_EQ(stand_in().calls("cuMemsetD8Async"), before + 1);
  EXPECT_TRUE(is_zero_from(content(memory), 100));
}

TEST_F(DevicePoolTest, ClearsNothingTwice) {
  make();
  (void)take(100);
  const std::int64_t before = stand_in().calls("cuMemsetD8Async");
  for (int i = 0; i != 10; ++i) {
    (void)take(100);
  }
  EXPECT_EQ(stand_in().calls("cuMemsetD8Async"), before);
}

TEST_F(DevicePoolTest, KeepsNoMoreThanItsLimit) {
  make(3 * kPage);
  {
    const auto first = take(kPage);
    const auto second = take(2 * kPage);
    const auto third = take(4 * kPage);
    EXPECT_EQ(pool_->stats().used_bytes, 7 * kPage);
  }
  // The largest never fits; of the others both do.
  EXPECT_EQ(pool_->stats().used_bytes, 0U);
  EXPECT_EQ(pool_->stats().idle_bytes, 3 * kPage);
  EXPECT_EQ(stand_in().counts().live_allocations, 2U);
}

TEST_F(DevicePoolTest, DropsWhatWasUsedLongestAgo) {
  make(2 * kPage);
  std::shared_ptr<PooledMemory> first = take(kPage);
  std::shared_ptr<PooledMemory> second = take(kPage);
  std::shared_ptr<PooledMemory> third = take(kPage);
  const std::uint64_t oldest = first->address();
  for (auto* memory : {&first, &second, &third}) {
    clock_.advance(std::chrono::seconds(1));
    *memory = nullptr;
  }
  EXPECT_EQ(pool_->stats().idle_bytes, 2 * kPage);
  const auto again = take(kPage);
  const auto also = take(kPage);
  EXPECT_EQ(pool_->stats().reuses, 2U);
  EXPECT_NE(again->address(), oldest);
  EXPECT_NE(also->address(), oldest);
}

TEST_F(DevicePoolTest, KeepsNothingWithoutALimit) {
  make(0);
  (void)take(100);
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
}

TEST_F(DevicePoolTest, FreesWhatWasIdleForLong) {
  make();
  (void)take(100);
  clock_.advance(std::chrono::seconds(29));
  pool_->trim();
  EXPECT_EQ(stand_in().counts().live_allocations, 1U);
  clock_.advance(std::chrono::seconds(1));
  pool_->trim();
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
  EXPECT_EQ(pool_->stats().idle_bytes, 0U);
}

TEST_F(DevicePoolTest, FreesIdleBuffersWhenTheGpuIsFull) {
  make(std::numeric_limits<std::uint64_t>::max());
  (void)take(16 * kPage);
  stand_in().fail_next("cuMemAlloc_v2", 2);
  const auto memory = take(kPage);
  EXPECT_EQ(stand_in().counts().live_allocations, 1U);
  EXPECT_EQ(pool_->stats().idle_bytes, 0U);
}

TEST_F(DevicePoolTest, TakesNoMoreThanNeededWhenTheGpuIsFull) {
  make();
  const std::int64_t next = stand_in().calls("cuMemAlloc_v2") + 1;
  stand_in().set_faults("cuMemAlloc_v2:" + std::to_string(next) + ":2,cuMemAlloc_v2:" + std::to_string(next + 1) +
                        ":2");
  EXPECT_EQ(take(33 * kPage)->capacity_bytes(), 33 * kPage);
}

TEST_F(DevicePoolTest, SaysThatTheGpuIsFull) {
  make();
  stand_in().set_faults("cuMemAlloc_v2:*:2");
  const auto memory = pool_->allocate(kPage);
  ASSERT_FALSE(memory.has_value());
  EXPECT_EQ(memory.error().code(), ErrorCode::kOutOfMemory);
  EXPECT_EQ(pool_->stats().used_bytes, 0U);
}

TEST_F(DevicePoolTest, RefusesSizesThatCannotBe) {
  make();
  EXPECT_EQ(pool_->allocate(0).error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(pool_->allocate(std::numeric_limits<std::size_t>::max()).error().code(), ErrorCode::kInvalidArgument);
}

TEST_F(DevicePoolTest, DoesNotHandOutWhatItCouldNotClear) {
  make();
  stand_in().fail_next("cuMemsetD8Async", 700);
  EXPECT_FALSE(pool_->allocate(100).has_value());
  EXPECT_EQ(pool_->stats().used_bytes, 0U);
  EXPECT_EQ(stand_in().counts().live_allocations, 0U);
}

TEST_F(DevicePoolTest, LivesAsLongAsItsBuffers) {
  make();
  const std::shared_ptr<PooledMemory> memory = take(100);
  pool_ = nullptr;
  EXPECT_TRUE(memory->handle().has_value());
}

TEST_F(DevicePoolTest, ServesManyThreads) {
  make();
  std::vector<std::thread> threads;
  for (int i = 0; i != 4; ++i) {
    threads.emplace_back([this, i] {
      for (int round = 0; round != 100; ++round) {
        const auto memory = take(static_cast<std::size_t>((i + round) % 3 + 1) * kPage);
        EXPECT_TRUE(memory->handle().has_value());
        if (round % 25 == 0) {
          pool_->trim();
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(pool_->stats().used_bytes, 0U);
  EXPECT_EQ(pool_->stats().handles_taken, pool_->stats().allocations);
}

}  // namespace
}  // namespace tessera
