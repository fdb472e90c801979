#include "connection_table.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>
#include <utility>

#include "support/recording_logger.h"
#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

using Admission = ConnectionTable::Admission;
using Wait = WatchedConnection::Wait;
using std::chrono::seconds;

class ConnectionTableTest : public ::testing::Test {
 protected:
  ConnectionTableTest() {
    std::array<int, 2> sockets{};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets.data()), 0);
    ours_ = UniqueFd::adopt(sockets[0]);
    theirs_ = UniqueFd::adopt(sockets[1]);
  }

  [[nodiscard]] bool is_shut_down() const {
    ::pollfd wish{.fd = theirs_.value(), .events = POLLIN, .revents = 0};
    return ::poll(&wish, 1, 0) > 0;
  }

  SilentLogger logger_;
  LimitCounters hits_;
  const Clock::Instant now_ = Clock::Instant(seconds(1000));
  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(ConnectionTableTest, ClosesWhatIsOverdue) {
  ConnectionTable table(10, seconds(75), seconds(300), logger_, hits_);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection, now_), Admission::kServed);
  EXPECT_TRUE(connection.arm(now_ + seconds(1), Wait::kForAnswerToGo));
  table.close_expired(now_);
  EXPECT_FALSE(is_shut_down());
  table.close_expired(now_ + seconds(2));
  EXPECT_TRUE(is_shut_down());
  EXPECT_FALSE(connection.disarm());
  table.remove(connection);
}

TEST_F(ConnectionTableTest, DoesNotCloseWhatIsBusy) {
  ConnectionTable table(10, seconds(75), seconds(300), logger_, hits_);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection, now_), Admission::kServed);
  EXPECT_TRUE(connection.arm(now_ + seconds(1), Wait::kForNextRequest));
  EXPECT_TRUE(connection.disarm());
  table.close_expired(now_ + seconds(2));
  table.close_waiting();
  EXPECT_FALSE(is_shut_down());
  EXPECT_TRUE(connection.arm(now_, Wait::kForNextRequest));
  table.remove(connection);
}

TEST_F(ConnectionTableTest, ClosesWhoWaitsForARequestOrItsRest) {
  ConnectionTable table(10, seconds(75), seconds(300), logger_, hits_);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection, now_), Admission::kServed);
  EXPECT_TRUE(connection.arm(now_, Wait::kForAnswerToGo));
  table.close_waiting();
  EXPECT_FALSE(is_shut_down());
  EXPECT_TRUE(connection.arm(now_, Wait::kForNextRequest));
  table.close_waiting();
  EXPECT_TRUE(is_shut_down());
  EXPECT_FALSE(connection.arm(now_, Wait::kForNextRequest));
  table.remove(connection);
  WatchedConnection with_half_a_body(ours_.value());
  EXPECT_EQ(table.add(with_half_a_body, now_), Admission::kServed);
  EXPECT_TRUE(with_half_a_body.arm(now_, Wait::kForBody));
  table.close_waiting();
  EXPECT_TRUE(with_half_a_body.arm(now_, Wait::kForBody));
  table.close_incomplete();
  EXPECT_FALSE(with_half_a_body.disarm());
  table.remove(with_half_a_body);
}

TEST_F(ConnectionTableTest, ClosesEvenWhatIsBusyWhenAllMustGo) {
  ConnectionTable table(10, seconds(75), seconds(300), logger_, hits_);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection, now_), Admission::kServed);
  table.close_all(now_);
  EXPECT_TRUE(is_shut_down());
  table.remove(connection);
}

TEST_F(ConnectionTableTest, CountsTheLimitForWhichItCloses) {
  const std::pair<Wait, Limit> cases[] = {{Wait::kForAnswerToGo, Limit::kAnswerTime},
                                          {Wait::kForBody, Limit::kBodyTime},
                                          {Wait::kForHead, Limit::kHeaderTime},
                                          {Wait::kForNextRequest, Limit::kIdleTime},
                                          {Wait::kForFirstRequest, Limit::kFirstRequestTime},
                                          {Wait::kForEnd, Limit::kNone}};
  for (const auto& [wait, limit] : cases) {
    ConnectionTable table(10, seconds(75), seconds(300), logger_, hits_);
    WatchedConnection connection(ours_.value());
    EXPECT_EQ(table.add(connection, now_), Admission::kServed);
    EXPECT_TRUE(connection.arm(now_ + seconds(1), wait));
    EXPECT_EQ(connection.closed_by(), Limit::kNone);
    table.close_expired(now_ + seconds(2));
    EXPECT_EQ(connection.closed_by(), limit);
    EXPECT_EQ(hits_.count(limit), limit == Limit::kNone ? 0U : 1U);
    table.remove(connection);
  }
}

TEST_F(ConnectionTableTest, WarnsOfWhatIsShownWhenAllMustGo) {
  testing::RecordingLogger logger;
  logger.expect("id=7");
  ConnectionTable table(10, seconds(75), seconds(300), logger, hits_);
  WatchedConnection shown(ours_.value());
  WatchedConnection hidden(theirs_.value());
  EXPECT_EQ(table.add(shown, now_), Admission::kServed);
  EXPECT_EQ(table.add(hidden, now_), Admission::kServed);
  const ShownRequest request{"7", "POST", "/apply", "pid 1", now_ - seconds(3)};
  const ShownRequest other{"8", "POST", "/apply", "pid 1", now_};
  shown.show(request);
  hidden.show(other);
  hidden.hide(other);
  table.close_all(now_);
  EXPECT_TRUE(logger.has("id=7 method=POST target=/apply peer=pid 1 seconds=3.0"));
  EXPECT_EQ(logger.lines().size(), 1U);
  EXPECT_EQ(shown.closed_by(), Limit::kStopTime);
  EXPECT_EQ(hits_.count(Limit::kStopTime), 1U);
  shown.hide(request);
  table.remove(shown);
  table.remove(hidden);
}

TEST_F(ConnectionTableTest, ClosesWhoComesAfterAllMustGo) {
  ConnectionTable table(10, seconds(75), seconds(300), logger_, hits_);
  table.close_all(now_);
  WatchedConnection connection(ours_.value());
  static_cast<void>(table.add(connection, now_));
  EXPECT_TRUE(is_shut_down());
  EXPECT_FALSE(connection.arm(now_, Wait::kForFirstRequest));
  table.remove(connection);
}

TEST_F(ConnectionTableTest, AdmitsAsManyAsTheLimit) {
  ConnectionTable table(1, seconds(75), seconds(300), logger_, hits_);
  WatchedConnection first(ours_.value());
  WatchedConnection second(ours_.value());
  EXPECT_EQ(table.add(first, now_), Admission::kServed);
  EXPECT_EQ(table.add(second, now_), Admission::kRefused);
  table.remove(first);
  table.remove(second);
  EXPECT_EQ(table.add(second, now_), Admission::kServed);
  table.remove(second);
}

TEST_F(ConnectionTableTest, WaitsUntilEmpty) {
  ConnectionTable table(1, seconds(75), seconds(300), logger_, hits_);
  EXPECT_TRUE(table.wait_until_empty(seconds(0)));
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection, now_), Admission::kServed);
  EXPECT_FALSE(table.wait_until_empty(std::chrono::milliseconds(10)));
  std::thread remover([&] { table.remove(connection); });
  EXPECT_TRUE(table.wait_until_empty(seconds(10)));
  remover.join();
}

TEST_F(ConnectionTableTest, LetsTheLongestIdleGiveWayAtTheLimit) {
  testing::RecordingLogger logger;
  logger.expect("as many connections as there may be");
  ConnectionTable table(3, seconds(75), seconds(300), logger, hits_);
  WatchedConnection longest(ours_.value());
  WatchedConnection silent(-1);
  WatchedConnection kept(-1);
  WatchedConnection late(-1);
  for (WatchedConnection* connection : {&longest, &silent, &kept}) {
    EXPECT_EQ(table.add(*connection, now_), Admission::kServed);
  }
  EXPECT_TRUE(longest.arm(now_ - seconds(20) + seconds(300), Wait::kForFirstRequest));
  EXPECT_TRUE(silent.arm(now_ - seconds(10) + seconds(300), Wait::kForFirstRequest));
  EXPECT_TRUE(kept.arm(now_ - seconds(30) + seconds(75), Wait::kForNextRequest));
  EXPECT_EQ(table.add(late, now_), Admission::kServed);
  EXPECT_TRUE(is_shut_down());
  EXPECT_FALSE(longest.disarm());
  EXPECT_TRUE(silent.disarm());
  EXPECT_TRUE(kept.disarm());
  for (WatchedConnection* connection : {&longest, &silent, &kept, &late}) {
    table.remove(*connection);
  }
}

TEST_F(ConnectionTableTest, ClosesNothingForANewOneThatMayBeInUse) {
  testing::RecordingLogger logger;
  logger.expect("as many connections as there may be");
  ConnectionTable table(1, seconds(75), seconds(300), logger, hits_);
  WatchedConnection old(ours_.value());
  WatchedConnection late(-1);
  EXPECT_EQ(table.add(old, now_), Admission::kServed);
  const auto refused_beside = [&](Clock::Instant deadline, Wait wait) {
    EXPECT_TRUE(old.arm(deadline, wait));
    EXPECT_EQ(table.add(late, now_), Admission::kRefused);
    table.remove(late);
  };
  refused_beside(now_ + seconds(75) - seconds(59), Wait::kForNextRequest);
  refused_beside(now_ + seconds(300) - seconds(4), Wait::kForFirstRequest);
  refused_beside(now_ - seconds(100), Wait::kForBody);
  refused_beside(now_ - seconds(100), Wait::kForHead);
  refused_beside(now_ - seconds(100), Wait::kForAnswerToGo);
  EXPECT_TRUE(old.disarm());
  EXPECT_EQ(table.add(late, now_), Admission::kRefused);
  table.remove(late);
  EXPECT_TRUE(old.arm(now_ + seconds(75) - seconds(60), Wait::kForNextRequest));
  EXPECT_EQ(table.add(late, now_), Admission::kServed);
  table.remove(late);
  table.remove(old);
}

}  // namespace
}  // namespace tessera
