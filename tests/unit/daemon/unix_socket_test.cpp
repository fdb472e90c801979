#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "listener.h"
#include "test_server.h"

namespace tessera {
namespace {

using testing::HasSubstr;

class MessageLogger final : public Logger {
 public:
  [[nodiscard]] bool is_on(LogLevel /*level*/) const override { return true; }
  void write(LogLevel /*level*/, std::string_view message, std::initializer_list<LogField> /*fields*/) override {
    messages.emplace_back(message);
  }

  std::vector<std::string> messages;
};

class UnixSocketTest : public testing::Test {
 protected:
  UnixSocketTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tessera-unix-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    path_ = folder_ / "socket";
  }
  ~UnixSocketTest() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] unsigned mode_of_path() const {
    struct stat status{};
    return ::lstat(path_.c_str(), &status) == 0 ? status.st_mode & 07777U : 0U;
  }

  // What a daemon leaves behind that was killed.
  void leave_stale_socket() const {
    const UniqueFd socket = UniqueFd::adopt(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path_.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(socket.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }

  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST_F(UnixSocketTest, ServesBesideTcp) {
  const TestServer test({.unix_socket = path_});
  RawConnection local = RawConnection::to_path(path_);
  const auto response = local.exchange(post("/echo", "local"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "local");
  EXPECT_TRUE(test.connect().exchange(get("/health")).is_whole());
}

TEST_F(UnixSocketTest, SaysThatItListensOnlyWhereItDoes) {
  MessageLogger logger;
  const SystemClock clock;
  TestService service;
  const DaemonOptions options{.port = 0, .unix_socket = folder_ / "none" / "socket"};
  EXPECT_FALSE(HttpServer::start(options, service, logger, clock).has_value());
  EXPECT_TRUE(logger.messages.empty()) << logger.messages.front();
}

TEST_F(UnixSocketTest, ServesAlone) {
  TestServer test({.serve_tcp = false, .unix_socket = path_});
  EXPECT_EQ(test.server->port(), 0);
  EXPECT_TRUE(RawConnection::to_path(path_).exchange(get("/health")).is_whole());
}

TEST_F(UnixSocketTest, HasItsModeWhateverTheUmaskIs) {
  for (const ::mode_t mask : {0U, 022U, 0777U}) {
    const ::mode_t before = ::umask(mask);
    const Result<UnixListener> listener = UnixListener::listen(path_, 0600);
    ::umask(before);
    ASSERT_TRUE(listener.has_value());
    EXPECT_EQ(mode_of_path(), 0600U);
  }
  const Result<UnixListener> open_to_all = UnixListener::listen(path_, 0666);
  EXPECT_EQ(mode_of_path(), 0666U);
}

TEST_F(UnixSocketTest, ReplacesTheSocketOfADeadDaemon) {
  leave_stale_socket();
  const TestServer test({.unix_socket = path_});
  EXPECT_TRUE(RawConnection::to_path(path_).exchange(get("/health")).is_whole());
}

TEST_F(UnixSocketTest, DoesNotReplaceALiveSocket) {
  const TestServer test({.unix_socket = path_});
  const Result<UnixListener> second = UnixListener::listen(path_, 0600);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  EXPECT_THAT(second.error().message(), HasSubstr("address already in use"));
  EXPECT_TRUE(RawConnection::to_path(path_).exchange(get("/health")).is_whole());
}

TEST_F(UnixSocketTest, DoesNotReplaceAFile) {
  std::ofstream(path_) << "precious";
  const Result<UnixListener> listener = UnixListener::listen(path_, 0600);
  ASSERT_FALSE(listener.has_value());
  EXPECT_EQ(listener.error().code(), ErrorCode::kInvalidArgument);
  EXPECT_EQ(std::filesystem::file_size(path_), 8U);
}

TEST_F(UnixSocketTest, RefusesPathsThatCannotBe) {
  for (const std::string& path : {std::string(), (folder_ / std::string(200, 'a')).string(), std::string("a\0b", 3)}) {
    const Result<UnixListener> listener = UnixListener::listen(path, 0600);
    ASSERT_FALSE(listener.has_value());
    EXPECT_EQ(listener.error().code(), ErrorCode::kInvalidArgument);
  }
  EXPECT_FALSE(UnixListener::listen(folder_ / "no" / "folder", 0600).has_value());
}

TEST_F(UnixSocketTest, IsRemovedWhenTheServerStops) {
  TestServer test({.unix_socket = path_});
  EXPECT_TRUE(std::filesystem::exists(path_));
  EXPECT_TRUE(test.server->stop());
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(UnixSocketTest, LeavesWhatHasTakenItsPlace) {
  {
    const Result<UnixListener> listener = UnixListener::listen(path_, 0600);
    ASSERT_TRUE(listener.has_value());
    std::filesystem::remove(path_);
    std::ofstream(path_) << "another's";
  }
  EXPECT_TRUE(std::filesystem::exists(path_));
}

TEST(TcpListenerTest, RefusesAPortThatIsInUse) {
  const Result<TcpListener> first = listen_tcp("127.0.0.1", 0);
  ASSERT_TRUE(first.has_value());
  EXPECT_NE(first->port, 0);
  for (const char* host : {"127.0.0.1", "0.0.0.0", "localhost"}) {
    const Result<TcpListener> second = listen_tcp(host, first->port);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
    EXPECT_THAT(second.error().message(), HasSubstr("address already in use"));
    EXPECT_THAT(second.error().message(), HasSubstr(std::to_string(first->port)));
  }
}

TEST(TcpListenerTest, TakesAPortAgainWhoseConnectionsLinger) {
  std::uint16_t port = 0;
  {
    TestServer test;
    port = test.server->port();
    RawConnection client = test.connect();
    // The side that closes first keeps the port for a while.
    EXPECT_TRUE(client.exchange(get("/health", "Connection: close\r\n")).is_whole());
    EXPECT_TRUE(client.is_closed_within(std::chrono::seconds(5)));
  }
  EXPECT_TRUE(listen_tcp("127.0.0.1", port).has_value());
}

}  // namespace
}  // namespace tessera
