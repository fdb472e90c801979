// What one small call asks of the system.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "program.h"
#include "raw_connection.h"
#include "support/temp_folder.h"
#include "system_calls.h"

namespace tessera::testing {
namespace {

TEST(SmallCallTest, TakesFewSystemCalls) {
  constexpr int kCalls = 200;
  const TempFolder folder;
  ServerProcess server({"identity", "--port", "0"}, folder.path());
  RawConnection client = RawConnection::to_port(server.port());
  const std::string request = post("/apply", R"({"inputs":{"x":[1.0,2.0,3.0]}})");
  const auto call = [&](int count) {
    for (int i = 0; i < count; ++i) {
      ASSERT_NE(client.exchange(request).body.find("[1.0,2.0,3.0]"), std::string::npos);
    }
  };
  call(20);
  const auto counts = count_system_calls(server.process(), [&] { call(kCalls); });
  if (!counts) {
    GTEST_SKIP() << "this machine lets no process be traced";
  }
  const auto each = [&](const std::string& name) {
    const auto found = counts->find(name);
    return found == counts->end() ? 0.0 : static_cast<double>(found->second) / kCalls;
  };
  // One answer, one request.
  EXPECT_NEAR(each("sendmsg"), 1, 0.05);
  EXPECT_LE(each("recvfrom"), 1.1);
  // To wait for the next. How threads take turns at waiting is up to chance.
  EXPECT_LE(each("epoll_wait"), 3);
  EXPECT_LE(each("epoll_ctl"), 1.1);
  EXPECT_LE(each("futex"), 8);
  // What an endpoint prints is caught: both descriptors redirected and restored, a look before and after.
  EXPECT_LE(each("dup2"), 4.1);
  EXPECT_LE(each("lseek"), 2.1);
  for (const auto& [name, count] : *counts) {
    const bool is_known =
        std::string("sendmsg recvfrom epoll_wait epoll_ctl futex dup2 lseek").find(name) != std::string::npos;
    EXPECT_TRUE(is_known || count < kCalls / 10) << "system call " << name << ": " << count << " times";
  }
}

}  // namespace
}  // namespace tessera::testing
