#include "tessera/base/socket_flow.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <string>

#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

// How much a socket takes while nobody reads.
std::size_t bytes_taken(bool is_lengthened) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends.data()), 0);
  const UniqueFd writer = UniqueFd::adopt(ends[0]);
  const UniqueFd reader = UniqueFd::adopt(ends[1]);
  if (is_lengthened) {
    lengthen_unix_queue(writer.value());
  }
  const std::string piece(16384, 'x');
  std::size_t taken = 0;
  for (ssize_t sent = 0; sent >= 0; sent = ::send(writer.value(), piece.data(), piece.size(), MSG_NOSIGNAL)) {
    taken += static_cast<std::size_t>(sent);
  }
  return taken;
}

TEST(SocketFlowTest, TakesMoreBeforeItsPeerReads) {
  EXPECT_GT(bytes_taken(true), bytes_taken(false) * 3 / 2);
}

TEST(SocketFlowTest, FindsWhatIsThereAndLooksNoLongerThanItMay) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const UniqueFd one = UniqueFd::adopt(ends[0]);
  UniqueFd other = UniqueFd::adopt(ends[1]);
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(poll_without_sleep(one.value(), POLLIN, std::chrono::milliseconds(5)), 0);
  EXPECT_GE(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds(5));
  EXPECT_EQ(poll_without_sleep(one.value(), POLLIN | POLLOUT, std::chrono::milliseconds(5)), POLLOUT);
  other = UniqueFd();
  EXPECT_NE(poll_without_sleep(one.value(), POLLIN, std::chrono::seconds(60)) & POLLIN, 0) << "its end is something";
}

TEST(SocketFlowTest, MindsNoSocketThatIsNone) {
  lengthen_unix_queue(-1);
}

}  // namespace
}  // namespace tessera
