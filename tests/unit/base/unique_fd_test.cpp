#include "tessera/base/unique_fd.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <utility>

namespace tessera {
namespace {

UniqueFd open_null() {
  return UniqueFd::adopt(::open("/dev/null", O_RDONLY | O_CLOEXEC));
}

bool is_open_descriptor(int fd) {
  return ::fcntl(fd, F_GETFD) >= 0;
}

TEST(UniqueFdTest, ClosesAtItsEnd) {
  int fd = -1;
  {
    const UniqueFd owner = open_null();
    fd = owner.value();
    ASSERT_TRUE(is_open_descriptor(fd));
  }
  EXPECT_FALSE(is_open_descriptor(fd));
}

TEST(UniqueFdTest, IsEmptyAfterMove) {
  UniqueFd first = open_null();
  const int fd = first.value();
  const UniqueFd second = std::move(first);
  // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-cplusplus.Move): the state after a move is what is tested
  EXPECT_FALSE(first.is_open());
  EXPECT_EQ(second.value(), fd);
}

TEST(UniqueFdTest, HandsDescriptorOver) {
  UniqueFd owner = open_null();
  const int fd = owner.release();
  EXPECT_FALSE(owner.is_open());
  EXPECT_TRUE(is_open_descriptor(fd));
  ::close(fd);
}

TEST(UniqueFdTest, AdoptsFailedOpenAsEmpty) {
  EXPECT_FALSE(UniqueFd::adopt(-1).is_open());
}

}  // namespace
}  // namespace tessera
