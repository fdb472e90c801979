#include "worker_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace tessera {
namespace {

using Outcome = WorkerSlots::Outcome;
using testing::ElementsAre;
using testing::IsEmpty;

class NotingWaiter final : public WorkerSlots::Waiter {
 public:
  NotingWaiter(std::vector<int>& granted, int name) : granted_(granted), name_(name) {}
  void granted() override { granted_.push_back(name_); }
  void refused() override { granted_.push_back(-name_); }

 private:
  std::vector<int>& granted_;
  int name_;
};

class WorkerSlotsTest : public testing::Test {
 protected:
  Outcome wait(WorkerSlots& slots, int name) {
    std::unique_ptr<WorkerSlots::Waiter> waiter = std::make_unique<NotingWaiter>(granted_, name);
    return slots.take_or_wait(waiter);
  }

  std::vector<int> granted_;
};

TEST_F(WorkerSlotsTest, GivesAsManySlotsAsThereAre) {
  WorkerSlots slots(2, 10);
  EXPECT_TRUE(slots.try_take());
  EXPECT_TRUE(slots.try_take());
  EXPECT_FALSE(slots.try_take());
  slots.give_back();
  EXPECT_TRUE(slots.try_take());
}

TEST_F(WorkerSlotsTest, GrantsInTheOrderOfWaiting) {
  WorkerSlots slots(1, 10);
  EXPECT_EQ(wait(slots, 1), Outcome::kTaken);
  EXPECT_EQ(wait(slots, 2), Outcome::kQueued);
  EXPECT_EQ(wait(slots, 3), Outcome::kQueued);
  EXPECT_EQ(slots.waiting(), 2U);
  EXPECT_THAT(granted_, IsEmpty());
  slots.give_back();
  slots.give_back();
  EXPECT_THAT(granted_, ElementsAre(2, 3));
}

TEST_F(WorkerSlotsTest, LetsNobodyPassAWaiter) {
  WorkerSlots slots(1, 10);
  EXPECT_TRUE(slots.try_take());
  EXPECT_EQ(wait(slots, 1), Outcome::kQueued);
  slots.give_back();
  EXPECT_FALSE(slots.try_take());
  slots.give_back();
  EXPECT_TRUE(slots.try_take());
}

TEST_F(WorkerSlotsTest, KeepsNoMoreWaitersThanTheLimit) {
  WorkerSlots slots(1, 1);
  EXPECT_TRUE(slots.try_take());
  EXPECT_EQ(wait(slots, 1), Outcome::kQueued);
  EXPECT_EQ(wait(slots, 2), Outcome::kFull);
  slots.give_back();
  EXPECT_EQ(wait(slots, 3), Outcome::kQueued);
}

TEST_F(WorkerSlotsTest, RefusesWhoWaitsAndWhoWouldWait) {
  WorkerSlots slots(1, 10);
  EXPECT_TRUE(slots.try_take());
  EXPECT_EQ(wait(slots, 1), Outcome::kQueued);
  EXPECT_EQ(wait(slots, 2), Outcome::kQueued);
  slots.refuse_waiters();
  EXPECT_THAT(granted_, ElementsAre(-1, -2));
  EXPECT_EQ(wait(slots, 3), Outcome::kFull);
  slots.give_back();
  EXPECT_TRUE(slots.try_take());
}

TEST_F(WorkerSlotsTest, DropsWaitersWithoutGrantingThem) {
  WorkerSlots slots(1, 10);
  EXPECT_TRUE(slots.try_take());
  EXPECT_EQ(wait(slots, 1), Outcome::kQueued);
  slots.drop_waiters();
  slots.give_back();
  EXPECT_THAT(granted_, IsEmpty());
  EXPECT_TRUE(slots.try_take());
  EXPECT_EQ(wait(slots, 2), Outcome::kFull);
}

TEST_F(WorkerSlotsTest, HeldSlotGivesBackOnce) {
  WorkerSlots slots(1, 10);
  EXPECT_TRUE(slots.try_take());
  {
    HeldSlot slot(slots);
    HeldSlot moved = std::move(slot);
    EXPECT_TRUE(moved.is_held());
    moved.give_back();
    EXPECT_FALSE(moved.is_held());
  }
  EXPECT_TRUE(slots.try_take());
  EXPECT_FALSE(slots.try_take());
}

TEST(WorkerSlotCountTest, SaysHowManyAreTaken) {
  WorkerSlots slots(2, 10);
  EXPECT_EQ(slots.slots(), 2U);
  EXPECT_EQ(slots.taken(), 0U);
  EXPECT_TRUE(slots.try_take());
  EXPECT_EQ(slots.taken(), 1U);
  slots.give_back();
  EXPECT_EQ(slots.taken(), 0U);
}

}  // namespace
}  // namespace tessera
