#include "buffer_pool.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <new>
#include <thread>
#include <vector>

namespace tessera {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

TEST(BufferPoolTest, RoundsUpByAtMostAQuarterBelowHugePages) {
  for (std::size_t size = BufferPool::kMinBlockBytes; size <= kMiB; size += 4093) {
    const std::size_t block_size = BufferPool::block_size_for(size);
    EXPECT_GE(block_size, size);
    EXPECT_LE(block_size, size + size / 4);
    EXPECT_EQ(block_size % 4096, 0U);
    EXPECT_EQ(BufferPool::block_size_for(block_size), block_size);
  }
}

TEST(BufferPoolTest, RoundsUpToWholeHugePages) {
  EXPECT_EQ(BufferPool::block_size_for(2 * kMiB - 1), 2 * kMiB);
  EXPECT_EQ(BufferPool::block_size_for(2 * kMiB), 2 * kMiB);
  EXPECT_EQ(BufferPool::block_size_for(2 * kMiB + 1), 4 * kMiB);
  EXPECT_EQ(BufferPool::block_size_for(64 * kMiB), 64 * kMiB);
  EXPECT_EQ(BufferPool::block_size_for(65 * kMiB), 80 * kMiB);
}

TEST(BufferPoolTest, AlignsLargeBlocksToHugePages) {
  BufferPool pool;
  std::byte* const block = pool.take(6 * kMiB);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) % BufferPool::kHugePageBytes, 0U);
  std::memset(block, 1, 6 * kMiB);
  pool.put(block, 6 * kMiB);
}

TEST(BufferPoolTest, TakesTheLatestBlockFirst) {
  BufferPool pool;
  std::byte* const first = pool.take(kMiB);
  std::byte* const second = pool.take(kMiB);
  pool.put(first, kMiB);
  pool.put(second, kMiB);
  EXPECT_EQ(pool.take(kMiB), second);
  EXPECT_EQ(pool.take(kMiB), first);
  pool.put(first, kMiB);
  pool.put(second, kMiB);
}

TEST(BufferPoolTest, FreesWhatWasIdleLongestWhenOverTheLimit) {
  BufferPool pool;
  pool.set_limit(6 * kMiB);
  std::byte* const old = pool.take(4 * kMiB);
  std::byte* const small = pool.take(kMiB);
  std::byte* const late = pool.take(2 * kMiB);
  pool.put(old, 4 * kMiB);
  pool.put(small, kMiB);
  EXPECT_EQ(pool.stats().idle_bytes, 5 * kMiB);
  pool.put(late, 2 * kMiB);
  EXPECT_EQ(pool.stats().idle_bytes, 3 * kMiB);
  EXPECT_EQ(pool.take(kMiB), small);
  EXPECT_EQ(pool.take(2 * kMiB), late);
  pool.put(small, kMiB);
  pool.put(late, 2 * kMiB);
}

TEST(BufferPoolTest, KeepsNothingLargerThanTheLimit) {
  BufferPool pool;
  pool.set_limit(kMiB);
  pool.put(pool.take(kMiB), kMiB);
  pool.put(pool.take(4 * kMiB), 4 * kMiB);
  EXPECT_EQ(pool.stats().idle_bytes, kMiB);
}

TEST(BufferPoolTest, FreesIdleBlocksWhenTheLimitSinks) {
  BufferPool pool;
  pool.put(pool.take(8 * kMiB), 8 * kMiB);
  pool.set_limit(0);
  EXPECT_EQ(pool.stats().idle_bytes, 0U);
}

TEST(BufferPoolTest, CountsNothingForATakeThatFailed) {
  BufferPool pool;
  EXPECT_THROW((void)pool.take(std::size_t{1} << 61), std::bad_alloc);
  EXPECT_THROW((void)pool.take(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  EXPECT_EQ(pool.stats().used_bytes, 0U);
}

TEST(BufferPoolTest, StaysWithinItsLimitUnderManyThreads) {
  BufferPool pool;
  pool.set_limit(kMiB);
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&pool] {
        for (std::size_t round = 0; round < 200; ++round) {
          const std::size_t size = BufferPool::block_size_for((round % 7 + 1) * 64 * kKiB);
          std::byte* const block = pool.take(size);
          block[0] = block[size - 1] = std::byte{1};
          pool.put(block, size);
        }
      });
    }
  }
  EXPECT_EQ(pool.stats().used_bytes, 0U);
  EXPECT_LE(pool.stats().idle_bytes, kMiB);
}

}  // namespace
}  // namespace tessera
