#include "listener.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>
#include <string>

#include "tessera/base/file.h"

namespace tessera {
namespace {

TEST(ListenerTest, SaysThatAnAddressIsInUse) {
  const Result<TcpListener> first = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(first.has_value()) << first.error().message();
  const Result<TcpListener> second = listen_tcp("127.0.0.1", first->port);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(second.error().native_code(), EADDRINUSE);
}

TEST(ListenerTest, SaysThatNoDescriptorIsLeft) {
  // UBSan takes descriptors when it meets a class for the first time, as the one that has the texts of errors.
  ASSERT_FALSE(system_error("a first time", EMFILE).message().empty());
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Result<TcpListener> listener = listen_tcp("127.0.0.1", 0);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  ASSERT_FALSE(listener.has_value());
  EXPECT_EQ(listener.error().code(), ErrorCode::kUnavailable);
  EXPECT_EQ(listener.error().native_code(), EMFILE);
}

}  // namespace
}  // namespace tessera
