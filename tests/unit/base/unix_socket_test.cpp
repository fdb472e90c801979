#include "tessera/base/unix_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
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

TEST(UnixSocketTest, TakesMoreBeforeItsPeerReads) {
  EXPECT_GT(bytes_taken(true), bytes_taken(false) * 3 / 2);
}

TEST(UnixSocketTest, MindsNoSocketThatIsNone) {
  lengthen_unix_queue(-1);
}

}  // namespace
}  // namespace tessera
