// What leases cost in memory, and that the table finds each as it grows and shrinks.
#include <gtest/gtest.h>

#include <iostream>
#include <random>
#include <vector>

#include "counting_new.h"
#include "many_leases.h"
#include "support/manual_clock.h"
#include "tessera/export_registry/export_registry.h"
#include "watched_owner.h"

namespace tessera {
namespace {

using testing::bytes_in_use;

TEST(LeaseMemoryTest, ManyLeasesTakeLessThan200BytesEach) {
  constexpr auto kLeases = static_cast<std::int64_t>(testing::kManyLeases);
  const testing::ManualClock clock;
  const ExportRegistry::Owner owner = std::make_shared<int>(0);
  ExportRegistry registry({}, clock);
  const std::int64_t before = bytes_in_use();
  for (std::int64_t i = 0; i < kLeases; ++i) {
    static_cast<void>(registry.put(owner, 1, i % 2 == 0, "[2001:0db8:1111:2222:3333:4444:5555:6666]:65535"));
  }
  const std::int64_t each = (bytes_in_use() - before) / kLeases;
  std::cout << "a lease takes " << each << " bytes\n";
  EXPECT_LE(each, 200);
  EXPECT_EQ(registry.supersede(), testing::kManyLeases / 2);
  EXPECT_LE(bytes_in_use() - before, kLeases / 2 * 200);
  EXPECT_EQ(registry.drain(), testing::kManyLeases / 2);
  EXPECT_LE(bytes_in_use() - before, 64 << 10);
}

TEST(LeaseMemoryTest, RegistryWithoutLeasesIsSmall) {
  const testing::ManualClock clock;
  const std::int64_t before = bytes_in_use();
  const ExportRegistry registry({}, clock);
  EXPECT_LE(bytes_in_use() - before, 16 << 10);
}

// Grows to some thousand leases and back, several times, with releases in random order.
TEST(LeaseMemoryTest, FindsEachLeaseAsTheTableGrowsAndShrinks) {
  const testing::ManualClock clock;
  ExportRegistry registry({}, clock);
  std::mt19937 random(1);  // NOLINT(bugprone-random-generator-seed): the same each time
  std::vector<RandomId> live;
  std::vector<RandomId> gone;
  for (const std::size_t size : {5000U, 100U, 3000U, 600U, 9000U, 0U, 700U, 0U}) {
    while (live.size() < size) {
      live.push_back(registry.put(nullptr, 1, random() % 2 == 0, ""));
    }
    while (live.size() > size) {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(registry.release(live.back()));
      gone.push_back(live.back());
      live.pop_back();
    }
    ASSERT_EQ(registry.stats().leases, size);
  }
  for (const RandomId& id : gone) {
    ASSERT_FALSE(registry.release(id));
  }
}

TEST(LeaseMemoryTest, PutThatFindsNoMemoryChangesNothing) {
  const testing::ManualClock clock;
  ExportRegistry registry({.limit_bytes = 10}, clock);
  ASSERT_TRUE(registry.try_reserve(10));
  bool is_gone = false;
  ExportRegistry::Owner owner = testing::owner_that_calls([&is_gone] { is_gone = true; });
  testing::fail_new_after(1);
  EXPECT_THROW(static_cast<void>(registry.put(std::move(owner), 10, false, "")), std::bad_alloc);
  EXPECT_TRUE(is_gone);
  EXPECT_EQ(registry.stats().made, 0U);
  EXPECT_EQ(registry.stats().reserved_bytes, 10U);
}

// The 513th lease needs more of the table.
TEST(LeaseMemoryTest, TableThatFindsNoMemoryStaysAsItWas) {
  const testing::ManualClock clock;
  ExportRegistry registry({}, clock);
  std::vector<RandomId> ids;
  ids.reserve(2000);
  for (int i = 0; i < 1000; ++i) {
    testing::fail_new_after(i % 2 == 0 ? 2 : 3);
    try {
      ids.push_back(registry.put(nullptr, 1, false, ""));
    } catch (const std::bad_alloc&) {
      EXPECT_EQ(registry.stats().leases, ids.size());
    }
  }
  testing::fail_new_after(0);
  EXPECT_LT(ids.size(), 1000U);
  while (ids.size() < 2000) {
    ids.push_back(registry.put(nullptr, 1, false, ""));
  }
  for (const RandomId& id : ids) {
    ASSERT_TRUE(registry.release(id));
  }
  EXPECT_EQ(registry.stats().leases, 0U);
}

}  // namespace
}  // namespace tessera
