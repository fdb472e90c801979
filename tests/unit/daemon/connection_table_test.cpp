#include "connection_table.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <thread>

#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

using Admission = ConnectionTable::Admission;
using Wait = WatchedConnection::Wait;
using std::chrono::seconds;

class ConnectionTableTest : public testing::Test {
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

  const Clock::Instant now_ = Clock::Instant(seconds(1000));
  UniqueFd ours_;
  UniqueFd theirs_;
};

TEST_F(ConnectionTableTest, ClosesWhatIsOverdue) {
  ConnectionTable table(10);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection), Admission::kServed);
  EXPECT_TRUE(connection.arm(now_ + seconds(1), Wait::kWithinRequest));
  table.close_expired(now_);
  EXPECT_FALSE(is_shut_down());
  table.close_expired(now_ + seconds(2));
  EXPECT_TRUE(is_shut_down());
  EXPECT_FALSE(connection.disarm());
  table.remove(connection);
}

TEST_F(ConnectionTableTest, DoesNotCloseWhatIsBusy) {
  ConnectionTable table(10);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection), Admission::kServed);
  EXPECT_TRUE(connection.arm(now_ + seconds(1), Wait::kForRequest));
  EXPECT_TRUE(connection.disarm());
  table.close_expired(now_ + seconds(2));
  table.close_waiting();
  EXPECT_FALSE(is_shut_down());
  EXPECT_TRUE(connection.arm(now_, Wait::kForRequest));
  table.remove(connection);
}

TEST_F(ConnectionTableTest, ClosesWhoWaitsForARequest) {
  ConnectionTable table(10);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection), Admission::kServed);
  EXPECT_TRUE(connection.arm(now_, Wait::kWithinRequest));
  table.close_waiting();
  EXPECT_FALSE(is_shut_down());
  EXPECT_TRUE(connection.arm(now_, Wait::kForRequest));
  table.close_waiting();
  EXPECT_TRUE(is_shut_down());
  EXPECT_FALSE(connection.arm(now_, Wait::kForRequest));
  table.remove(connection);
}

TEST_F(ConnectionTableTest, ClosesEvenWhatIsBusyWhenAllMustGo) {
  ConnectionTable table(10);
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection), Admission::kServed);
  table.close_all();
  EXPECT_TRUE(is_shut_down());
  table.remove(connection);
}

TEST_F(ConnectionTableTest, AdmitsAsManyAsTheLimit) {
  ConnectionTable table(1);
  WatchedConnection first(ours_.value());
  WatchedConnection second(ours_.value());
  EXPECT_EQ(table.add(first), Admission::kServed);
  EXPECT_EQ(table.add(second), Admission::kRefused);
  table.remove(first);
  table.remove(second);
  EXPECT_EQ(table.add(second), Admission::kServed);
  table.remove(second);
}

TEST_F(ConnectionTableTest, WaitsUntilEmpty) {
  ConnectionTable table(1);
  EXPECT_TRUE(table.wait_until_empty(seconds(0)));
  WatchedConnection connection(ours_.value());
  EXPECT_EQ(table.add(connection), Admission::kServed);
  EXPECT_FALSE(table.wait_until_empty(std::chrono::milliseconds(10)));
  std::thread remover([&] { table.remove(connection); });
  EXPECT_TRUE(table.wait_until_empty(seconds(10)));
  remover.join();
}

}  // namespace
}  // namespace tessera
