#include "host.h"

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(HostTest, TakesNamesAndAddresses) {
  for (const char* host : {"", "x", "localhost:8000", "127.0.0.1:80", "[::1]", "[::1]:8000", "[fe80::1%25eth0]",
                           "a_b.c", "%2Ftmp%2Fsocket", "x:", "/run/user/0/tessera.sock", "a-b~c!$&'()*+,;="}) {
    EXPECT_TRUE(is_host(host)) << host;
  }
}

TEST(HostTest, RefusesWhatIsNoHost) {
  for (const char* host :
       {"a b",    "a/b", "user@x", "x:80a", "x:-1", "x:80:80",  "::1", "[::1", "::1]",     "[]",  "/a b",
        "[::1]x", "a?b", "a#b",    "a\\b",  "<x>",  "\xc3\xa4", "%2",  "%zz",  "http://x", "a\"b"}) {
    EXPECT_FALSE(is_host(host)) << host;
  }
}

}  // namespace
}  // namespace tessera
