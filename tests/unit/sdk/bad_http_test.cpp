// Servers that do not speak HTTP as they should.
#include <chrono>
#include <string>

#include "client_errors.h"
#include "scripted_server.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::expect_error;
using ::testing::HasSubstr;
using testing::ok_response;
using testing::response_of;
using testing::ScriptedConnection;
using testing::ScriptedServer;

// What a client gets that calls /health once on a server which answers so.
Value health_of(ScriptedServer::Script script, const ClientOptions& options = {}) {
  const ScriptedServer server(std::move(script));
  return Tesseract::from_url(server.url(), options).health();
}

void expect_bad_response(const std::string& bytes, std::string_view part, const ClientOptions& options = {}) {
  expect_error(Kind::kBadResponse, part,
               [&] { static_cast<void>(health_of(ScriptedServer::answering_once(bytes), options)); });
}

void expect_read(const std::string& bytes) {
  EXPECT_EQ(health_of(ScriptedServer::answering_once(bytes)).object()["status"].text(), "ok");
}

const std::string kOk = R"({"status":"ok"})";

TEST(BadHttpTest, ReadsAPlainResponse) {
  expect_read(ok_response(kOk));
  expect_read(ok_response(kOk, "Content-Encoding: identity\r\n"));
}

TEST(BadHttpTest, RefusesAHeadThatIsCutOff) {
  expect_bad_response("HTTP/1.1 200 OK\r\nContent-Le", "the connection ended within its head");
  expect_bad_response("H", "the connection ended within its head");
  expect_bad_response("HTTP/1.1 200 OK\r\n", "the connection ended within its head");
  expect_bad_response("HTTP/1.1 200 OK\r\nDate: now\r\n", "the connection ended within its head");
}

TEST(BadHttpTest, RefusesABodyThatIsCutOff) {
  expect_bad_response("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\"", "it ended after 9 of 100 bytes");
  expect_bad_response("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", "it ended after 0 of 100 bytes");
}

TEST(BadHttpTest, SaysThatAServerAnsweredNothing) {
  expect_error(Kind::kConnection, "closed the connection without an answer; the call may have been executed", [] {
    static_cast<void>(health_of([](ScriptedConnection& connection) { static_cast<void>(connection.read()); }));
  });
}

TEST(BadHttpTest, SaysThatNobodyListens) {
  std::string url;
  {
    const ScriptedServer gone(ScriptedServer::answering(""));
    url = gone.url();
  }
  expect_error(Kind::kConnection, "cannot connect to " + url + ": Connection refused",
               [&url] { static_cast<void>(Tesseract::from_url(url).health()); });
  expect_error(Kind::kConnection, "cannot connect to unix:/nowhere/s.sock: No such file or directory",
               [] { static_cast<void>(Tesseract::from_url("unix:/nowhere/s.sock").health()); });
}

TEST(BadHttpTest, SaysThatAHostHasNoAddress) {
  expect_error(Kind::kConnection, "cannot connect to http://no-such-host.invalid",
               [] { static_cast<void>(Tesseract::from_url("http://no-such-host.invalid:1").health()); });
}

TEST(BadHttpTest, RefusesAContentLengthThatIsNoNumber) {
  for (const char* const length : {"x", "-1", "1x", "99999999999999999999999"}) {
    expect_bad_response("HTTP/1.1 200 OK\r\nContent-Length: " + std::string(length) + "\r\n\r\n" + kOk,
                        "it is no HTTP");
  }
  expect_bad_response("HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Length: 16\r\n\r\n" + kOk, "it is no HTTP");
}

TEST(BadHttpTest, RefusesWhatIsLongerThanIsTaken) {
  ClientOptions options;
  options.max_response_bytes = 1000;
  const std::string long_body(1001, ' ');
  expect_bad_response("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n",
                      "it announces 1001 bytes, and at most 1000 are read", options);
  expect_bad_response("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + long_body, "it is longer than 1000 bytes",
                      options);
  expect_bad_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n" + long_body + "\r\n0\r\n\r\n",
                      "it is longer than 1000 bytes", options);
}

TEST(BadHttpTest, TakesWhatIsJustAsLongAsIsTaken) {
  ClientOptions options;
  options.max_response_bytes = kOk.size();
  for (const std::string& response :
       {ok_response(kOk), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + kOk,
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n" + kOk + "\r\n0\r\n\r\n"}) {
    EXPECT_EQ(health_of(ScriptedServer::answering_once(response), options).object()["status"].text(), "ok");
  }
}

TEST(BadHttpTest, RefusesABodyThatNeverEnds) {
  ClientOptions options;
  options.max_response_bytes = 3'000'000;
  const auto endless = [](std::string head, std::string piece) {
    return [head = std::move(head), piece = std::move(piece)](ScriptedConnection& connection) {
      connection.answer(head);
      while (connection.send(piece)) {
      }
    };
  };
  expect_error(Kind::kBadResponse, "it is longer than 3000000 bytes", [&] {
    static_cast<void>(health_of(endless("HTTP/1.1 200 OK\r\n\r\n", std::string(50'000, ' ')), options));
  });
  expect_error(Kind::kBadResponse, "it is longer than 3000000 bytes", [&] {
    static_cast<void>(health_of(endless("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
                                        "c000\r\n" + std::string(0xc000, ' ') + "\r\n"),
                                options));
  });
}

TEST(BadHttpTest, TakesNoMemoryThatIsNotThere) {
#ifdef TESSERA_SANITIZED
  GTEST_SKIP() << "sanitizers end the program where there is no memory";
#endif
  ClientOptions options;
  options.max_response_bytes = UINT64_MAX;
  expect_bad_response("HTTP/1.1 200 OK\r\nContent-Length: 4611686018427387904\r\n\r\n",
                      "there is no memory for 4611686018427387904 bytes", options);
}

TEST(BadHttpTest, ReadsChunks) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect_read(head + "f\r\n" + kOk + "\r\n0\r\n\r\n");
  expect_read(head + "1;a=b\r\n{\r\n00e\r\n\"status\":\"ok\"}\r\n0\r\nTrailer: x\r\n\r\n");
}

TEST(BadHttpTest, ReadsChunksThatComeByteByByte) {
  const auto byte_by_byte = [](ScriptedConnection& connection) {
    static_cast<void>(connection.read());
    for (const char byte : "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n" + kOk + "\r\n0\r\n\r\n") {
      connection.send({&byte, 1});
      connection.pause(std::chrono::milliseconds(1));
    }
  };
  EXPECT_EQ(health_of(byte_by_byte).object()["status"].text(), "ok");
}

// Of the last chunk and of a trailer, too.
TEST(BadHttpTest, ReadsChunksThatAreCutAnywhere) {
  const std::string text =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nf\r\n" + kOk + "\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t cut = text.find("f\r\n"); cut != text.size(); ++cut) {
    const auto in_two = [&text, cut](ScriptedConnection& connection) {
      static_cast<void>(connection.read());
      connection.send(text.substr(0, cut));
      connection.pause(std::chrono::milliseconds(2));
      connection.send(text.substr(cut));
    };
    EXPECT_EQ(health_of(in_two).object()["status"].text(), "ok") << cut;
  }
}

TEST(BadHttpTest, RefusesChunksThatAreWrong) {
  const std::string head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  expect_bad_response(head + "xyz\r\n" + kOk, "it is no HTTP");
  expect_bad_response(head + "f\r\n" + kOk + "AA0\r\n\r\n", "it is no HTTP");
  expect_bad_response(head + "fffffffffffffffffff\r\n", "it is longer than");
  expect_bad_response(head + "f\r\n" + kOk.substr(0, 5), "it ended within a chunk, after 5 bytes");
  expect_bad_response(head + "f\r\n" + kOk + "\r\n", "it ended within a chunk, after 15 bytes");
  expect_bad_response(head + "f;" + std::string(100'000, 'a'), "");
}

TEST(BadHttpTest, RefusesTwoFramings) {
  expect_bad_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 15\r\n\r\n" + kOk,
                      "it is no HTTP");
}

TEST(BadHttpTest, ReadsUntilTheConnectionCloses) {
  expect_read("HTTP/1.1 200 OK\r\n\r\n" + kOk);
  expect_read("HTTP/1.0 200 OK\r\n\r\n" + kOk);
}

TEST(BadHttpTest, ReadsALongBodyUntilTheConnectionCloses) {
  const std::string filled = R"({"status":"ok","fill":")" + std::string(1'000'000, 'x') + "\"}";
  expect_read("HTTP/1.1 200 OK\r\n\r\n" + filled);
}

TEST(BadHttpTest, RefusesCodingsThatItDidNotAskFor) {
  expect_bad_response(ok_response("\x1f\x8b", "Content-Encoding: gzip\r\n"),
                      "it is encoded as 'gzip', which was not asked for");
  expect_bad_response("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", "'gzip, chunked'");
}

TEST(BadHttpTest, PassesInterimResponsesOver) {
  expect_read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok_response(kOk));
  expect_bad_response("HTTP/1.1 100 Continue\r\n\r\n", "the connection ended within its head");
}

TEST(BadHttpTest, RefusesGarbage) {
  expect_bad_response("SSH-2.0-OpenSSH_9.2\r\n\r\n", "it is no HTTP");
  expect_bad_response(std::string("\0\1\2\3\r\n\r\n", 8), "it is no HTTP");
  expect_bad_response("HTTP/1.1 abc OK\r\n\r\n", "it is no HTTP");
  expect_bad_response("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "it is no HTTP");
}

TEST(BadHttpTest, RefusesAHeadThatNeverEnds) {
  const auto endless = [](ScriptedConnection& connection) {
    connection.answer("HTTP/1.1 200 OK\r\n");
    while (connection.send("X-Header: " + std::string(1000, 'x') + "\r\n")) {
    }
  };
  expect_error(Kind::kBadResponse, "it is no HTTP", [&] { static_cast<void>(health_of(endless)); });
}

TEST(BadHttpTest, ReadsALongHead) {
  std::string headers;
  for (int i = 0; i != 2000; ++i) {
    headers += "X-" + std::to_string(i) + ": " + std::string(80, 'x') + "\r\n";
  }
  expect_read(ok_response(kOk, headers));
}

TEST(BadHttpTest, SaysWhereARedirectLeads) {
  expect_error(Kind::kStatus, "it leads to http://elsewhere/health, which is not followed", [] {
    static_cast<void>(health_of(ScriptedServer::answering_once(
        response_of("307 Temporary Redirect", "", "Location: http://elsewhere/health\r\n"))));
  });
}

TEST(BadHttpTest, ReadsNoBodyWhereThereIsNone) {
  expect_bad_response("HTTP/1.1 204 No Content\r\n\r\n", "it is no JSON");
  expect_bad_response("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "it is no JSON");
}

TEST(BadHttpTest, UsesNoConnectionWithBytesBehindTheResponse) {
  const ScriptedServer server({ScriptedServer::answering(ok_response(kOk) + "HTTP/1.1 500 Stale\r\n\r\n"),
                               ScriptedServer::answering(ok_response(kOk))});
  const Tesseract client = Tesseract::from_url(server.url());
  static_cast<void>(client.health());
  EXPECT_EQ(client.health().object()["status"].text(), "ok");
  EXPECT_EQ(server.connections(), 2U);
}

TEST(BadHttpTest, TellsWhatAServerSaysThatDoesNotReadTheRequest) {
  const auto refuse_early = [](ScriptedConnection& connection) {
    static_cast<void>(connection.read_head());
    connection.send(response_of("413 Payload Too Large", R"({"detail":"too large for us"})"));
    connection.finish();
    connection.pause(std::chrono::milliseconds(200));
  };
  const ScriptedServer server(refuse_early);
  const auto error = testing::error_of([&server] {
    const Array large = Array::zeros(DType::kUInt8, {std::int64_t{64} << 20U});
    static_cast<void>(Tesseract::from_url(server.url()).apply({{"x", large}}));
  });
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status(), 413);
  EXPECT_THAT(error->what(), HasSubstr("too large for us"));
}

TEST(BadHttpTest, TellsWhatAServerSaysThatThenResetsTheConnection) {
  const auto refuse_and_reset = [](ScriptedConnection& connection) {
    static_cast<void>(connection.read_head());
    connection.send(response_of("413 Payload Too Large", "too large for us"));
  };
  const ScriptedServer server(refuse_and_reset, ScriptedServer::Kind::kUnix);
  expect_error(Kind::kStatus, "too large for us", [&server] {
    const Array large = Array::zeros(DType::kUInt8, {std::int64_t{16} << 20U});
    static_cast<void>(Tesseract::from_url(server.url()).apply({{"x", large}}));
  });
}

TEST(BadHttpTest, SendsTheWholeBodyAfterAnInterimResponse) {
  const auto continue_first = [](ScriptedConnection& connection) {
    auto request = connection.read_head();
    connection.send("HTTP/1.1 100 Continue\r\n\r\n");
    connection.pause(std::chrono::milliseconds(20));
    if (request && connection.read_body(*request)) {
      connection.send(ok_response(kOk));
    }
  };
  const ScriptedServer server(continue_first);
  const Array large = Array::zeros(DType::kUInt8, {std::int64_t{16} << 20U});
  EXPECT_EQ(Tesseract::from_url(server.url()).apply({{"x", large}}).object()["status"].text(), "ok");
}

}  // namespace
}  // namespace tessera
