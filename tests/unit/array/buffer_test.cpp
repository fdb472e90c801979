#include "tessera/array/buffer.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace tessera {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

// What others left idle is none of a test's business, and what a test left is none of theirs.
class BufferPoolOfProcessTest : public testing::Test {
 protected:
  void SetUp() override {
    set_buffer_pool_limit(0);
    set_buffer_pool_limit(std::uint64_t{1} << 30);
  }
  void TearDown() override { SetUp(); }
};

TEST(BufferTest, AlignsBuffersOfEverySize) {
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, kKiB, 64 * kKiB - 1, 64 * kKiB, kMiB + 7, 5 * kMiB}) {
    const Buffer buffer = Buffer::allocate(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % Buffer::kAlignmentBytes, 0U) << size;
    ASSERT_EQ(buffer.size_bytes(), size);
    std::memset(buffer.data(), 0x5a, size);
  }
}

TEST(BufferTest, TakesNoMemoryForNoBytes) {
  const Buffer buffer = Buffer::allocate(0);
  EXPECT_EQ(buffer.size_bytes(), 0U);
  EXPECT_TRUE(buffer.bytes().empty());
  EXPECT_TRUE(buffer.is_unique());
}

TEST(BufferTest, ThrowsForSizesThatNobodyHas) {
  EXPECT_THROW((void)Buffer::allocate(std::numeric_limits<std::size_t>::max()), std::bad_alloc);
  EXPECT_THROW((void)Buffer::allocate(std::size_t{1} << 61), std::bad_alloc);
}

TEST(BufferTest, KnowsWhetherItIsShared) {
  const Buffer buffer = Buffer::allocate(8);
  EXPECT_TRUE(buffer.is_unique());
  std::vector<Buffer> others(2, buffer);
  EXPECT_FALSE(buffer.is_unique());
  EXPECT_EQ(others[1].data(), buffer.data());
  others.clear();
  EXPECT_TRUE(buffer.is_unique());
}

TEST(BufferTest, SharesItsFront) {
  const Buffer buffer = Buffer::allocate(100);
  const Buffer front = buffer.first(10);
  EXPECT_EQ(front.data(), buffer.data());
  EXPECT_EQ(front.size_bytes(), 10U);
  EXPECT_FALSE(front.is_unique());
}

TEST(BufferTest, KeepsTheOwnerOfAdoptedMemory) {
  auto owner = std::make_shared<std::vector<std::byte>>(16);
  std::byte* const data = owner->data();
  const std::weak_ptr<void> watched = owner;
  {
    const Buffer buffer = Buffer::adopt(std::move(owner), data, 16);
    EXPECT_EQ(buffer.data(), data);
    EXPECT_FALSE(watched.expired());
  }
  EXPECT_TRUE(watched.expired());
}

TEST_F(BufferPoolOfProcessTest, GivesTheSameMemoryAgain) {
  const std::byte* const first = Buffer::allocate(4 * kMiB).data();
  EXPECT_EQ(buffer_pool_stats().idle_bytes, 4 * kMiB);
  const Buffer again = Buffer::allocate(4 * kMiB - 100);
  EXPECT_EQ(again.data(), first);
  EXPECT_EQ(buffer_pool_stats().idle_bytes, 0U);
}

TEST_F(BufferPoolOfProcessTest, CountsWhatIsUsed) {
  const std::uint64_t before = buffer_pool_stats().used_bytes;
  {
    const std::vector<Buffer> handles(2, Buffer::allocate(4 * kMiB));
    EXPECT_EQ(buffer_pool_stats().used_bytes, before + 4 * kMiB);
  }
  EXPECT_EQ(buffer_pool_stats().used_bytes, before);
}

TEST_F(BufferPoolOfProcessTest, ServesManyThreads) {
  std::vector<std::jthread> threads;
  threads.reserve(4);
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([thread] {
      for (std::size_t round = 1; round <= 200; ++round) {
        const auto mark = static_cast<unsigned char>(thread);
        const Buffer buffer = Buffer::allocate(round % 5 * 100 * kKiB + round);
        std::memset(buffer.data(), mark, buffer.size_bytes());
        const Buffer front = buffer.first(1);
        ASSERT_EQ(std::to_integer<unsigned char>(front.data()[0]), mark);
        ASSERT_EQ(std::to_integer<unsigned char>(buffer.data()[buffer.size_bytes() - 1]), mark);
      }
    });
  }
}

}  // namespace
}  // namespace tessera
