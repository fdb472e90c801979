// Connections that are kept, and what is sent twice.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <latch>
#include <string>

#include "client_errors.h"
#include "scripted_server.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using std::chrono::milliseconds;
using testing::expect_error;
using testing::ok_response;
using testing::ScriptedConnection;
using testing::ScriptedServer;

class KeepAliveTest : public ::testing::TestWithParam<ScriptedServer::Kind> {
 protected:
  [[nodiscard]] ScriptedServer::Kind kind() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Sockets, KeepAliveTest,
                         ::testing::Values(ScriptedServer::Kind::kTcp, ScriptedServer::Kind::kUnix),
                         [](const auto& each) { return each.param == ScriptedServer::Kind::kTcp ? "Tcp" : "Unix"; });

void apply_once(const Tesseract& client) {
  EXPECT_TRUE(client.apply({}).object().is_empty());
}

const std::string kEmpty = ok_response("{}");

// Until the server's close has come.
void let_arrive() {
  std::this_thread::sleep_for(milliseconds(30));
}

TEST_P(KeepAliveTest, UsesOneConnectionForManyCalls) {
  const ScriptedServer server(ScriptedServer::answering(kEmpty), kind());
  const Tesseract client = Tesseract::from_url(server.url());
  for (int i = 0; i != 10; ++i) {
    apply_once(client);
  }
  EXPECT_EQ(server.connections(), 1U);
  EXPECT_EQ(server.requests().size(), 10U);
}

TEST_P(KeepAliveTest, SharesConnectionsBetweenViews) {
  const ScriptedServer server(ScriptedServer::answering(kEmpty), kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  apply_once(client.with_encoding({.output_format = "json"}));
  const Tesseract copy = client;  // NOLINT(performance-unnecessary-copy-initialization): it is what is tested
  apply_once(copy);
  EXPECT_EQ(server.connections(), 1U);
}

TEST_P(KeepAliveTest, ConnectsAnewWhereTheServerSaysThatItCloses) {
  const ScriptedServer server(ScriptedServer::answering_once(ok_response("{}", "Connection: close\r\n")), kind());
  const Tesseract client = Tesseract::from_url(server.url());
  for (int i = 0; i != 3; ++i) {
    EXPECT_TRUE(client.health().object().is_empty());
  }
  EXPECT_EQ(server.connections(), 3U);
}

TEST_P(KeepAliveTest, ConnectsAnewWhereTheServerHasClosed) {
  const ScriptedServer server(ScriptedServer::answering_once(kEmpty), kind());
  const Tesseract client = Tesseract::from_url(server.url());
  for (int i = 0; i != 3; ++i) {
    apply_once(client);
    let_arrive();
  }
  EXPECT_EQ(server.connections(), 3U);
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_P(KeepAliveTest, ConnectsAnewWhereBytesCameThatNobodyAskedFor) {
  std::latch sent(1);
  const auto stale = [&sent](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    connection.pause(milliseconds(10));
    connection.send("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n");
    sent.count_down();
    connection.wait_for_end();
  };
  const ScriptedServer server({stale, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  sent.wait();
  apply_once(client);
  EXPECT_EQ(server.connections(), 2U);
}

TEST_P(KeepAliveTest, ConnectsAnewWhereTheServerSaysThatItWaitedTooLong) {
  const auto time_out = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    connection.answer(testing::response_of("408 Request Timeout", ""));
  };
  const ScriptedServer server({time_out, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  apply_once(client);
  EXPECT_EQ(server.connections(), 2U);
}

// The server closes once the request is there, and without having read it.
TEST_P(KeepAliveTest, RepeatsACallThatTheServerCannotHaveRead) {
  const auto close_unread = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    while (connection.pause(milliseconds(1)) && !connection.has_bytes()) {
    }
  };
  const ScriptedServer server({close_unread, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  apply_once(client);
  EXPECT_EQ(server.connections(), 2U);
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_P(KeepAliveTest, RepeatsALargeCallThatTheServerReadsAPartOf) {
  const auto close_early = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    static_cast<void>(connection.read_head());
  };
  const ScriptedServer server({close_early, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  const Array large = Array::zeros(DType::kUInt8, {std::int64_t{16} << 20U});
  EXPECT_TRUE(client.apply({{"x", large}}).object().is_empty());
  EXPECT_EQ(server.connections(), 2U);
}

TEST_P(KeepAliveTest, DoesNotRepeatACallThatMayHaveBeenExecuted) {
  const auto close_after_reading = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    static_cast<void>(connection.read());
  };
  const ScriptedServer server({close_after_reading, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  expect_error(Kind::kConnection, "closed the connection without an answer; the call may have been executed",
               [&client] { static_cast<void>(client.apply({})); });
  EXPECT_EQ(server.requests().size(), 2U);
  apply_once(client);
}

TEST_P(KeepAliveTest, DoesNotRepeatACallWhoseAnswerBroke) {
  const auto break_answer = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    connection.answer("HTTP/1.1 200 OK\r\nConte");
  };
  const ScriptedServer server({break_answer, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  expect_error(Kind::kBadResponse, "the connection ended within its head",
               [&client] { static_cast<void>(client.apply({})); });
  EXPECT_EQ(server.requests().size(), 2U);
}

TEST_P(KeepAliveTest, RepeatsWhatMayBeDoneTwice) {
  const auto close_after_reading = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    static_cast<void>(connection.read());
  };
  const ScriptedServer server({close_after_reading, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  EXPECT_TRUE(client.health().object().is_empty());
  EXPECT_TRUE(client.health().object().is_empty());
  EXPECT_EQ(server.requests().size(), 3U);
}

TEST_P(KeepAliveTest, RepeatsOnce) {
  const auto close_after_reading = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    static_cast<void>(connection.read());
  };
  const auto close_at_once = [](ScriptedConnection& connection) { static_cast<void>(connection.read()); };
  const ScriptedServer server({close_after_reading, close_at_once}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  EXPECT_TRUE(client.health().object().is_empty());
  expect_error(Kind::kConnection, "closed the connection without an answer",
               [&client] { static_cast<void>(client.health()); });
  EXPECT_EQ(server.connections(), 2U);
}

TEST_P(KeepAliveTest, DoesNotRepeatOnANewConnection) {
  const ScriptedServer server([](ScriptedConnection& connection) { static_cast<void>(connection.read_head()); },
                              kind());
  const Tesseract client = Tesseract::from_url(server.url());
  expect_error(Kind::kConnection, "without an answer", [&client] { static_cast<void>(client.health()); });
  EXPECT_EQ(server.connections(), 1U);
}

TEST_P(KeepAliveTest, KeepsNoConnectionWhoseRequestWasNotSentToItsEnd) {
  const auto refuse_early = [](ScriptedConnection& connection) {
    static_cast<void>(connection.read_head());
    connection.send(testing::response_of("413 Payload Too Large", ""));
    connection.pause(milliseconds(200));
  };
  const ScriptedServer server({refuse_early, ScriptedServer::answering(kEmpty)}, kind());
  const Tesseract client = Tesseract::from_url(server.url());
  const Array large = Array::zeros(DType::kUInt8, {std::int64_t{32} << 20U});
  expect_error(Kind::kStatus, "413", [&] { static_cast<void>(client.apply({{"x", large}})); });
  apply_once(client);
  EXPECT_EQ(server.connections(), 2U);
}

TEST_P(KeepAliveTest, ClosesItsConnectionsWhenToldTo) {
  const ScriptedServer server(ScriptedServer::answering(kEmpty), kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  client.close();
  apply_once(client);
  EXPECT_EQ(server.connections(), 2U);
}

TEST_P(KeepAliveTest, HasConnectionsOfItsOwnInAForkedChild) {
  const ScriptedServer server(ScriptedServer::answering(kEmpty), kind());
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  const pid_t child = ::fork();
  if (child == 0) {
    const bool is_right = client.apply({}).object().is_empty();
    ::_exit(is_right ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(server.connections(), 2U);
  apply_once(client);
  EXPECT_EQ(server.connections(), 2U);
}

TEST(KeptConnectionTest, IsReplacedAfterAReset) {
  const auto reset = [](ScriptedConnection& connection) {
    connection.answer(kEmpty);
    while (connection.pause(milliseconds(1)) && !connection.has_bytes()) {
    }
    connection.reset();
  };
  const ScriptedServer server({reset, ScriptedServer::answering(kEmpty)});
  const Tesseract client = Tesseract::from_url(server.url());
  apply_once(client);
  apply_once(client);
  EXPECT_EQ(server.connections(), 2U);
}

}  // namespace
}  // namespace tessera
