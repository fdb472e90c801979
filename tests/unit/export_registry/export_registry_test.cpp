// How leases end, what is counted, and what fits.
#include "tessera/export_registry/export_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "support/manual_clock.h"
#include "watched_owner.h"

namespace tessera {
namespace {

using ::testing::ElementsAre;
using testing::ended;
using testing::ManualClock;
using testing::owner_that_calls;

class ExportRegistryTest : public ::testing::Test {
 protected:
  /// An owner that notes its number as it goes.
  ExportRegistry::Owner owner(int number) {
    return owner_that_calls([this, number] { gone_.push_back(number); });
  }
  RandomId put_naming(int number) { return registry_.put(owner(number), 1, true, "naming"); }
  RandomId put_silent(int number) { return registry_.put(owner(number), 1, false, "silent"); }

  ManualClock clock_;
  std::vector<int> gone_;
  ExportRegistry registry_{{.lifetime = std::chrono::seconds(300), .limit_bytes = 1000}, clock_};
};

TEST_F(ExportRegistryTest, KeepsOwnerUntilItIsReleased) {
  const RandomId id = put_naming(1);
  EXPECT_TRUE(gone_.empty());
  EXPECT_TRUE(registry_.release(id));
  EXPECT_THAT(gone_, ElementsAre(1));
}

TEST_F(ExportRegistryTest, ReleasesOneLeaseOnce) {
  const RandomId id = put_naming(1);
  put_naming(2);
  EXPECT_TRUE(registry_.release(id));
  EXPECT_FALSE(registry_.release(id));
  EXPECT_FALSE(registry_.release(RandomId::make()));
  EXPECT_THAT(gone_, ElementsAre(1));
}

TEST_F(ExportRegistryTest, SupersedesLeasesOfClientsThatDoNotNameTheirs) {
  put_silent(1);
  put_naming(2);
  put_silent(3);
  EXPECT_EQ(registry_.supersede(), 2U);
  EXPECT_EQ(registry_.supersede(), 0U);
  EXPECT_THAT(gone_, ElementsAre(1, 3));
}

TEST_F(ExportRegistryTest, ReapsLeaseOfFiveMinutes) {
  put_naming(1);
  put_silent(2);
  clock_.advance(std::chrono::seconds(300));
  EXPECT_EQ(registry_.reap_expired(clock_.now()), 2U);
  EXPECT_THAT(gone_, ElementsAre(1, 2));
}

TEST_F(ExportRegistryTest, DrainsAllLeases) {
  put_naming(1);
  put_silent(2);
  EXPECT_EQ(registry_.drain(), 2U);
  EXPECT_EQ(registry_.drain(), 0U);
  EXPECT_THAT(gone_, ElementsAre(1, 2));
}

TEST_F(ExportRegistryTest, CountsEachLeaseUnderOneEnd) {
  const RandomId named = put_naming(1);
  const RandomId dropped = put_silent(2);
  const RandomId superseded = put_silent(3);
  const RandomId expired = put_naming(4);
  registry_.release(named);
  registry_.release(dropped, LeaseEnd::kDropped);
  registry_.supersede();
  clock_.advance(std::chrono::seconds(300));
  registry_.reap_expired(clock_.now());
  put_silent(5);
  registry_.drain();
  for (const RandomId& id : {named, dropped, superseded, expired}) {
    EXPECT_FALSE(registry_.release(id));
  }
  EXPECT_THAT(registry_.stats().ended, ElementsAre(1, 1, 1, 1, 1));
  EXPECT_EQ(registry_.stats().made, 5U);
  EXPECT_EQ(registry_.stats().leases, 0U);
  EXPECT_EQ(registry_.stats().bytes, 0U);
}

TEST_F(ExportRegistryTest, DropsWhatIsLeftWhenItEnds) {
  {
    ExportRegistry registry({}, clock_);
    static_cast<void>(registry.put(owner(1), 1, true, ""));
    static_cast<void>(registry.put(owner(2), 1, false, ""));
  }
  EXPECT_THAT(gone_, ElementsAre(1, 2));
}

TEST_F(ExportRegistryTest, OwnerMayCallRegistryAsItGoes) {
  const RandomId other = put_naming(1);
  const auto when_gone = [&] {
    EXPECT_EQ(registry_.stats().leases, 1U);
    EXPECT_TRUE(registry_.release(other));
    EXPECT_EQ(registry_.leases(10).size(), 0U);
    put_silent(2);
    EXPECT_EQ(registry_.supersede(), 1U);
    put_naming(3);
  };
  const RandomId id = registry_.put(owner_that_calls(when_gone), 1, true, "");
  EXPECT_TRUE(registry_.release(id));
  EXPECT_THAT(gone_, ElementsAre(1, 2));
  EXPECT_EQ(registry_.drain(), 1U);
}

TEST_F(ExportRegistryTest, OwnerPutByOwnerIsDroppedToo) {
  {
    ExportRegistry registry({}, clock_);
    const auto when_gone = [&] { static_cast<void>(registry.put(owner(2), 1, true, "")); };
    static_cast<void>(registry.put(owner_that_calls(when_gone), 1, true, ""));
  }
  EXPECT_THAT(gone_, ElementsAre(2));
}

TEST_F(ExportRegistryTest, DestroysOwnersOnCallingThread) {
  std::vector<std::thread::id> threads;
  const auto note = [&threads] { threads.push_back(std::this_thread::get_id()); };
  const RandomId id = registry_.put(owner_that_calls(note), 1, true, "");
  static_cast<void>(registry_.put(owner_that_calls(note), 1, false, ""));
  static_cast<void>(registry_.put(owner_that_calls(note), 1, true, ""));
  registry_.release(id);
  registry_.supersede();
  registry_.drain();
  EXPECT_THAT(threads, ::testing::SizeIs(3));
  EXPECT_THAT(threads, ::testing::Each(std::this_thread::get_id()));
}

TEST_F(ExportRegistryTest, RefusesReservationBeyondLimit) {
  EXPECT_TRUE(registry_.try_reserve(600));
  EXPECT_FALSE(registry_.try_reserve(401));
  EXPECT_TRUE(registry_.try_reserve(400));
  EXPECT_FALSE(registry_.try_reserve(1));
  EXPECT_TRUE(registry_.try_reserve(0));
  EXPECT_EQ(registry_.stats().reserved_bytes, 1000U);
}

TEST_F(ExportRegistryTest, TakesBytesOutOfReservation) {
  ASSERT_TRUE(registry_.try_reserve(1000));
  const RandomId id = registry_.put(nullptr, 700, true, "");
  EXPECT_EQ(registry_.stats().bytes, 700U);
  EXPECT_EQ(registry_.stats().reserved_bytes, 300U);
  EXPECT_FALSE(registry_.try_reserve(1));
  registry_.give_up(300);
  EXPECT_TRUE(registry_.try_reserve(300));
  registry_.release(id);
  EXPECT_TRUE(registry_.try_reserve(700));
}

TEST_F(ExportRegistryTest, TakesAndCountsWhatWasNotReserved) {
  ASSERT_TRUE(registry_.try_reserve(100));
  const RandomId id = registry_.put(nullptr, 5000, true, "");
  EXPECT_EQ(registry_.stats().bytes, 5000U);
  EXPECT_EQ(registry_.stats().reserved_bytes, 0U);
  EXPECT_FALSE(registry_.try_reserve(1));
  registry_.release(id);
  EXPECT_TRUE(registry_.try_reserve(1000));
}

TEST_F(ExportRegistryTest, GivesUpNoMoreThanWasReserved) {
  ASSERT_TRUE(registry_.try_reserve(100));
  registry_.give_up(UINT64_MAX);
  EXPECT_EQ(registry_.stats().reserved_bytes, 0U);
  EXPECT_TRUE(registry_.try_reserve(1000));
}

TEST_F(ExportRegistryTest, SumsOfBytesDoNotWrap) {
  EXPECT_FALSE(registry_.try_reserve(UINT64_MAX));
  ASSERT_TRUE(registry_.try_reserve(10));
  const RandomId first = registry_.put(nullptr, UINT64_MAX, true, "");
  const RandomId second = registry_.put(nullptr, UINT64_MAX, true, "");
  EXPECT_EQ(registry_.stats().bytes, UINT64_MAX);
  EXPECT_FALSE(registry_.try_reserve(1));
  registry_.release(second);
  EXPECT_EQ(registry_.stats().bytes, UINT64_MAX);
  registry_.release(first);
  EXPECT_EQ(registry_.stats().bytes, 0U);
}

TEST_F(ExportRegistryTest, ListsLeasesOldestFirst) {
  const RandomId first = registry_.put(nullptr, 10, true, "127.0.0.1");
  clock_.advance(std::chrono::seconds(2));
  const RandomId second = registry_.put(nullptr, 20, false, "");
  clock_.advance(std::chrono::seconds(1));
  const std::vector<LeaseInfo> leases = registry_.leases(10);
  ASSERT_EQ(leases.size(), 2U);
  EXPECT_EQ(leases[0].short_id, first.hex().substr(0, 8));
  EXPECT_EQ(leases[0].bytes, 10U);
  EXPECT_EQ(leases[0].age, std::chrono::seconds(3));
  EXPECT_TRUE(leases[0].is_acknowledging);
  EXPECT_EQ(leases[0].peer, "127.0.0.1");
  EXPECT_EQ(leases[1].short_id, second.hex().substr(0, 8));
  EXPECT_EQ(leases[1].age, std::chrono::seconds(1));
  EXPECT_FALSE(leases[1].is_acknowledging);
  EXPECT_EQ(leases[1].peer, "");
}

TEST_F(ExportRegistryTest, ListsNoMoreThanAskedFor) {
  std::vector<std::string> ids;
  ids.reserve(1000);
  for (int i = 0; i < 1000; ++i) {
    ids.push_back(put_naming(i).hex().substr(0, 8));
  }
  for (const std::size_t limit : {0U, 1U, 128U, 129U, 999U, 1000U, 1001U}) {
    EXPECT_EQ(registry_.leases(limit).size(), std::min<std::size_t>(limit, 1000));
  }
  const std::vector<LeaseInfo> leases = registry_.leases(SIZE_MAX);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ASSERT_EQ(leases.at(i).short_id, ids[i]);
  }
}

TEST_F(ExportRegistryTest, ShowsThePeerWhole) {
  const std::string longest = "[2001:0db8:1111:2222:3333:4444:5555:6666]:65535";
  static_cast<void>(registry_.put(nullptr, 1, true, longest));
  EXPECT_EQ(registry_.leases(1).at(0).peer, longest);
}

TEST_F(ExportRegistryTest, CutsNameOfPeerBetweenCharacters) {
  const std::string bytes_45(45, 'x');
  static_cast<void>(registry_.put(nullptr, 1, true, bytes_45 + "yz and more"));
  static_cast<void>(registry_.put(nullptr, 1, true, bytes_45 + "y\u00e9"));
  static_cast<void>(registry_.put(nullptr, 1, true, bytes_45 + "\u00e9"));
  const std::vector<LeaseInfo> leases = registry_.leases(3);
  EXPECT_EQ(leases.at(0).peer, bytes_45 + "yz");
  EXPECT_EQ(leases.at(1).peer, bytes_45 + "y");
  EXPECT_EQ(leases.at(2).peer, bytes_45 + "\u00e9");
}

}  // namespace
}  // namespace tessera
