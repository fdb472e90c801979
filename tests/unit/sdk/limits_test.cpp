// How long calls wait.
#include <sys/socket.h>
#include <sys/un.h>

#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>

#include "client_errors.h"
#include "scripted_server.h"
#include "support/temp_folder.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::expect_error;
using testing::ok_response;
using testing::ScriptedConnection;
using testing::ScriptedServer;

ClientOptions with_limits(const Timeouts& timeouts) {
  ClientOptions options;
  options.timeouts = timeouts;
  return options;
}

void say_nothing(ScriptedConnection& connection) {
  static_cast<void>(connection.read());
  connection.wait_for_end();
}

// Sends a byte of an endless body now and then.
void trickle(ScriptedConnection& connection) {
  connection.answer("HTTP/1.1 200 OK\r\n\r\n");
  while (connection.pause(milliseconds(10)) && connection.send(" ")) {
  }
}

// Sends an endless body as fast as it goes.
void pour(ScriptedConnection& connection) {
  connection.answer("HTTP/1.1 200 OK\r\n\r\n");
  const std::string piece(1'000'000, ' ');
  while (connection.send(piece)) {
  }
}

// A Unix socket whose queue is full, until one is accepted.
class FullSocket {
 public:
  FullSocket() {
    const std::string path = (folder_.path() / "sock").string();
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    const auto* const where = reinterpret_cast<const sockaddr*>(&address);
    listener_ = UniqueFd::adopt(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::bind(listener_.value(), where, sizeof address), 0);
    EXPECT_EQ(::listen(listener_.value(), 0), 0);
    waiting_ = UniqueFd::adopt(::socket(AF_UNIX, SOCK_STREAM, 0));
    EXPECT_EQ(::connect(waiting_.value(), where, sizeof address), 0);
    url_ = "unix:" + path;
  }
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] UniqueFd accept() const { return UniqueFd::adopt(::accept(listener_.value(), nullptr, nullptr)); }

 private:
  testing::TempFolder folder_;
  UniqueFd listener_;
  UniqueFd waiting_;
  std::string url_;
};

template <class Call>
milliseconds time_of(Call&& call) {
  const auto begin = steady_clock::now();
  call();
  return std::chrono::duration_cast<milliseconds>(steady_clock::now() - begin);
}

TEST(LimitsTest, EndTheWaitForAnAnswer) {
  const ScriptedServer server(say_nothing);
  const milliseconds time = time_of([&server] {
    expect_error(Kind::kTimeout, "waiting for the server took longer than 100 ms", [&server] {
      static_cast<void>(Tesseract::from_url(server.url(), with_limits({.read = milliseconds(100)})).health());
    });
  });
  EXPECT_GE(time, milliseconds(100));
  EXPECT_LT(time, milliseconds(60'000));
}

// Where something always comes there is no wait that a signal could end.
TEST(LimitsTest, LetSignalsEndABodyThatPours) {
  const ScriptedServer server(pour);
  ClientOptions options;
  options.on_signal = [] { throw std::runtime_error("Ctrl-C"); };
  EXPECT_THROW(static_cast<void>(Tesseract::from_url(server.url(), options).health()), std::runtime_error);
}

TEST(LimitsTest, EndTheWaitForTheRestOfABody) {
  const ScriptedServer server([](ScriptedConnection& connection) {
    connection.answer("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{");
    connection.wait_for_end();
  });
  expect_error(Kind::kTimeout, "waiting for the server took longer than 50 ms", [&server] {
    static_cast<void>(Tesseract::from_url(server.url(), with_limits({.read = milliseconds(50)})).health());
  });
}

TEST(LimitsTest, EndTheWaitForAServerThatDoesNotRead) {
  const ScriptedServer server([](ScriptedConnection& connection) {
    static_cast<void>(connection.read_head());
    connection.pause(std::chrono::seconds(10));
  });
  expect_error(Kind::kTimeout, "waiting for the server took longer than 100 ms", [&server] {
    const Array large = Array::zeros(DType::kUInt8, {std::int64_t{64} << 20U});
    static_cast<void>(
        Tesseract::from_url(server.url(), with_limits({.read = milliseconds(100)})).apply({{"x", large}}));
  });
}

TEST(LimitsTest, EndACallWhoseBytesKeepComing) {
  const ScriptedServer server(trickle);
  expect_error(Kind::kTimeout, "the call took longer than 100 ms", [&server] {
    static_cast<void>(
        Tesseract::from_url(server.url(), with_limits({.read = milliseconds(5000), .total = milliseconds(100)}))
            .health());
  });
}

TEST(LimitsTest, EndACallWhoseBytesAlwaysAreThere) {
  const ScriptedServer server(pour);
  ClientOptions options = with_limits({.total = milliseconds(100)});
  options.max_response_bytes = std::uint64_t{4} << 30U;
  const milliseconds time = time_of([&] {
    expect_error(Kind::kTimeout, "the call took longer than 100 ms",
                 [&] { static_cast<void>(Tesseract::from_url(server.url(), options).health()); });
  });
  EXPECT_LT(time, milliseconds(60'000));
}

TEST(LimitsTest, DoNotEndACallWhoseBytesKeepComing) {
  const ScriptedServer server([](ScriptedConnection& connection) {
    connection.answer("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n");
    for (int i = 0; i != 10; ++i) {
      connection.pause(milliseconds(20));
      connection.send(" ");
    }
    connection.send("{}");
  });
  EXPECT_TRUE(
      Tesseract::from_url(server.url(), with_limits({.read = milliseconds(2000)})).health().object().is_empty());
}

TEST(LimitsTest, EndConnectingToASocketWhoseQueueIsFull) {
  const FullSocket full;
  expect_error(Kind::kTimeout, "connecting took longer than 60 ms", [&full] {
    static_cast<void>(Tesseract::from_url(full.url(), with_limits({.connect = milliseconds(60)})).health());
  });
  expect_error(Kind::kTimeout, "the call took longer than 60 ms", [&full] {
    static_cast<void>(Tesseract::from_url(full.url(), with_limits({.total = milliseconds(60)})).health());
  });
}

TEST(LimitsTest, ConnectingWaitsForASocketWhoseQueueIsFull) {
  const FullSocket full;
  std::thread server([&full] {
    std::this_thread::sleep_for(milliseconds(50));
    const UniqueFd first = full.accept();
    const UniqueFd second = full.accept();
    const std::string bytes = ok_response("{}");
    EXPECT_EQ(::send(second.value(), bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    char byte = 0;
    while (::recv(second.value(), &byte, 1, 0) > 0) {
    }
  });
  {
    const Tesseract client = Tesseract::from_url(full.url(), with_limits({.connect = milliseconds(10'000)}));
    EXPECT_TRUE(client.health().object().is_empty());
  }
  server.join();
}

TEST(LimitsTest, MayBeLongerThanAnybodyLives) {
  const ScriptedServer server(ScriptedServer::answering(ok_response("{}")));
  const Timeouts endless{milliseconds::max(), milliseconds::max(), milliseconds::max()};
  EXPECT_TRUE(Tesseract::from_url(server.url(), with_limits(endless)).health().object().is_empty());
}

TEST(LimitsTest, AreOfEachCall) {
  const ScriptedServer server(ScriptedServer::answering(ok_response("{}")));
  const Tesseract client = Tesseract::from_url(server.url(), with_limits({.total = milliseconds(1500)}));
  for (int i = 0; i != 4; ++i) {
    EXPECT_TRUE(client.health().object().is_empty());
    std::this_thread::sleep_for(milliseconds(400));
  }
}

TEST(LimitsTest, LeaveTheClientUsable) {
  const ScriptedServer server({say_nothing, ScriptedServer::answering(ok_response("{}"))});
  const Tesseract client = Tesseract::from_url(server.url(), with_limits({.read = milliseconds(50)}));
  expect_error(Kind::kTimeout, "", [&client] { static_cast<void>(client.health()); });
  EXPECT_TRUE(client.health().object().is_empty());
  EXPECT_EQ(server.connections(), 2U);
}

TEST(CancellationTest, EndsCallsThatComeAfterIt) {
  const ScriptedServer server(ScriptedServer::answering(ok_response("{}")));
  const Tesseract client = Tesseract::from_url(server.url());
  const Cancellation cancellation;
  EXPECT_FALSE(cancellation.is_cancelled());
  EXPECT_TRUE(client.health({.cancellation = cancellation}).object().is_empty());
  cancellation.cancel();
  EXPECT_TRUE(cancellation.is_cancelled());
  expect_error(Kind::kCancelled, "the call was cancelled",
               [&] { static_cast<void>(client.health({.cancellation = cancellation})); });
  EXPECT_EQ(server.requests().size(), 1U);
}

TEST(CancellationTest, EndsACallWhoseBytesAlwaysAreThere) {
  const ScriptedServer server(pour);
  const Cancellation cancellation;
  std::thread other([&cancellation] {
    std::this_thread::sleep_for(milliseconds(50));
    cancellation.cancel();
  });
  expect_error(Kind::kCancelled, "the call was cancelled",
               [&] { static_cast<void>(Tesseract::from_url(server.url()).health({.cancellation = cancellation})); });
  other.join();
}

TEST(CancellationTest, EndsConnecting) {
  const FullSocket full;
  const Cancellation cancellation;
  std::thread other([&cancellation] {
    std::this_thread::sleep_for(milliseconds(30));
    cancellation.cancel();
  });
  expect_error(Kind::kCancelled, "the call was cancelled",
               [&] { static_cast<void>(Tesseract::from_url(full.url()).health({.cancellation = cancellation})); });
  other.join();
}

}  // namespace
}  // namespace tessera
