#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "test_server.h"

namespace tessera {
namespace {

using ::testing::ElementsAre;

std::vector<int> statuses(const std::vector<OwnedReport>& reports) {
  std::vector<int> all;
  all.reserve(reports.size());
  for (const OwnedReport& report : reports) {
    all.push_back(report.status);
  }
  return all;
}

constexpr std::string_view kInvalid = "Invalid HTTP request received.";

TEST(HttpTest, AnswersWithItsHeaders) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response = client.exchange(get("/health"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body, "ok");
  EXPECT_EQ(response.headers.at("content-type"), "text/plain");
  EXPECT_EQ(response.headers.at("content-length"), "2");
  EXPECT_EQ(response.headers.at("x-test"), "yes");
  EXPECT_THAT(response.headers.at("server"), ::testing::StartsWith("tessera/"));
  EXPECT_THAT(response.headers.at("date"), ::testing::EndsWith(" GMT"));
  EXPECT_FALSE(response.headers.contains("connection"));
}

TEST(HttpTest, KeepsTheConnection) {
  const TestServer test;
  RawConnection client = test.connect();
  for (int i = 0; i < 5; ++i) {
    const std::string body = "body " + std::to_string(i);
    const auto response = client.exchange(post("/echo", body));
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.body, body);
  }
}

TEST(HttpTest, AnswersPipelinedRequestsInOrder) {
  const TestServer test;
  RawConnection client = test.connect();
  std::string requests;
  for (int i = 0; i < 50; ++i) {
    requests += post("/echo", std::string(static_cast<std::size_t>(i) * 100, 'a') + std::to_string(i));
    requests += get("/health");
  }
  client.send(requests);
  for (int i = 0; i < 50; ++i) {
    const auto echo = client.read_response();
    ASSERT_TRUE(echo.is_whole());
    EXPECT_EQ(echo.body, std::string(static_cast<std::size_t>(i) * 100, 'a') + std::to_string(i));
    const auto health = client.read_response();
    ASSERT_TRUE(health.is_whole());
    EXPECT_EQ(health.body, "ok");
  }
}

TEST(HttpTest, ReadsARequestThatComesByteByByte) {
  const TestServer test;
  RawConnection client = test.connect();
  for (const char byte : post("/echo", "slow")) {
    ASSERT_TRUE(client.send({&byte, 1}));
  }
  const auto response = client.read_response();
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "slow");
}

TEST(HttpTest, ClosesWhenAskedTo) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response = client.exchange(get("/health", "Connection: close\r\n"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_TRUE(client.is_closed_within(std::chrono::seconds(5)));
}

TEST(HttpTest, ClosesAfterARequestOfHttp10) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response = client.exchange("GET /health HTTP/1.0\r\n\r\n");
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "ok");
  EXPECT_TRUE(client.is_closed_within(std::chrono::seconds(5)));
}

TEST(HttpTest, KeepsAConnectionOfHttp10ThatAsks) {
  const TestServer test;
  RawConnection client = test.connect();
  for (int i = 0; i < 2; ++i) {
    const auto response = client.exchange("GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.headers.at("connection"), "keep-alive");
  }
}

TEST(HttpTest, SendsNoBodyForHead) {
  const TestServer test;
  RawConnection client = test.connect();
  client.send("HEAD /health HTTP/1.1\r\nHost: x\r\n\r\n" + get("/health"));
  const auto head = client.read_response(false);
  ASSERT_TRUE(head.is_whole());
  EXPECT_EQ(head.headers.at("content-length"), "2");
  const auto next = client.read_response();
  ASSERT_TRUE(next.is_whole());
  EXPECT_EQ(next.body, "ok");
}

TEST(HttpTest, IgnoresTheBodyOfGet) {
  const TestServer test;
  RawConnection client = test.connect();
  for (int i = 0; i < 2; ++i) {
    const auto response = client.exchange(get("/health", "Content-Length: 4\r\n") + "null");
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.status, 200);
  }
}

TEST(HttpTest, LetsTheFirstOfSeveralHeaderLinesCount) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response = client.exchange(get("/headers",
                                            "ACCEPT: a/b\r\nAccept: c/d\r\nContent-Type: e/f\r\ncontent-type: g/h\r\n"
                                            "tesseract-EXPORTS-done: 1\r\nTesseract-Exports-Done: 2\r\n"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "x|e/f|a/b|1|");
}

TEST(HttpTest, ReadsAndSendsLargeBodies) {
  const TestServer test;
  RawConnection client = test.connect();
  std::string body;
  for (int i = 0; i < 700'000; ++i) {
    body += std::to_string(i);
  }
  for (int i = 0; i < 2; ++i) {
    const auto response = client.exchange(post("/echo", body));
    ASSERT_TRUE(response.is_whole());
    EXPECT_TRUE(response.body == body);
  }
}

TEST(HttpTest, SendsAnArrayPieceByPiece) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response = client.exchange(post("/large?3000000", ""));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body.size(), 4'000'002U);
  EXPECT_EQ(response.body.substr(0, 9), "\"AAECAwQF");
  EXPECT_EQ(response.body.back(), '"');
}

TEST(HttpTest, ReadsChunkedBodiesWithExtensionsAndTrailers) {
  const TestServer test;
  RawConnection client = test.connect();
  const std::string head = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  const auto response = client.exchange(head + "5;name=\"v\"\r\nhello\r\n6 \r\n world\r\n0\r\nTrailer: yes\r\n\r\n");
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "hello world");
  const auto next = client.exchange(head + "0\r\n\r\n");
  ASSERT_TRUE(next.is_whole());
  EXPECT_EQ(next.body, "");
}

TEST(HttpTest, ReadsALargeChunkedBody) {
  const TestServer test;
  RawConnection client = test.connect();
  std::string request = "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
  std::string body;
  for (int i = 0; i < 40; ++i) {
    const std::string chunk(65536, static_cast<char>('a' + i % 26));
    request += "10000\r\n" + chunk + "\r\n";
    body += chunk;
  }
  const auto response = client.exchange(request + "0\r\n\r\n");
  ASSERT_TRUE(response.is_whole());
  EXPECT_TRUE(response.body == body);
}

TEST(HttpTest, SaysContinueToWhoWaitsForIt) {
  const TestServer test;
  RawConnection client = test.connect();
  client.send("POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read(25), "HTTP/1.1 100 Continue\r\n\r\n");
  const auto response = client.exchange("body");
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "body");
}

TEST(HttpTest, DoesNotSayContinueForWhatIsRefusedUnread) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response =
      client.exchange("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n");
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 404);
  EXPECT_EQ(response.body, "unread");
  EXPECT_EQ(response.headers.at("connection"), "close");
}

TEST(HttpTest, ReadsAShortBodyBeforeARefusal) {
  const TestServer test;
  RawConnection client = test.connect();
  for (int i = 0; i < 2; ++i) {
    const auto response = client.exchange(post("/nowhere", "body"));
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.body, "read");
  }
}

TEST(HttpTest, AnswersAnExceptionAndCloses) {
  const TestServer test;
  for (const char* const target : {"/throw", "/throw_late"}) {
    RawConnection client = test.connect();
    const auto response = client.exchange(post(target, ""));
    ASSERT_TRUE(response.is_whole());
    EXPECT_EQ(response.status, 500);
    EXPECT_EQ(response.body, "Internal Server Error");
    EXPECT_EQ(response.headers.at("connection"), "close");
  }
  EXPECT_EQ(test.logger.errors, 2);
  EXPECT_THAT(statuses(test.service.reports(2)), ElementsAre(500, 500));
}

TEST(HttpTest, GivesItsSlotBackAfterAnException) {
  const TestServer test;
  static_cast<void>(test.connect().exchange(post("/throw_late", "")));
  const auto response = test.connect().exchange(post("/echo", "after"));
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.body, "after");
}

class BadHttpTest : public ::testing::TestWithParam<std::string> {};

TEST_P(BadHttpTest, IsAnswered400AndClosed) {
  const TestServer test;
  RawConnection client = test.connect();
  const auto response = client.exchange(GetParam());
  ASSERT_TRUE(response.is_whole());
  EXPECT_EQ(response.status, 400);
  EXPECT_EQ(response.headers.at("content-type"), "text/plain; charset=utf-8");
  EXPECT_EQ(response.headers.at("connection"), "close");
  EXPECT_EQ(response.body, kInvalid);
  EXPECT_TRUE(client.is_closed_within(std::chrono::seconds(5)));
  EXPECT_THAT(statuses(test.service.reports(1)), ElementsAre(400));
}

INSTANTIATE_TEST_SUITE_P(
    All, BadHttpTest,
    ::testing::Values("garbage\r\n", "\x16\x03\x01 a TLS greeting", "GET /health\r\n", "GET /health HTTP/2.0\r\n\r\n",
                      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /health HTTP/1.1\r\n\r\n",
                      "GET /health HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "GET /health HTTP/1.1\nHost: x\n\n",
                      "GET /health HTTP/1.1\r\nHost: x\r\nbroken\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n",
                      "GET /a\xff HTTP/1.1\r\nHost: x\r\n\r\n", "GET /a?b=\xc3\xa4 HTTP/1.1\r\nHost: x\r\n\r\n",
                      "GET /health HTTP/1.1\r\nHost: x\r\nAccept: a\r\n b\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 2x\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 18446744073709551616\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nnot hex\r\n",
                      "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n"));

}  // namespace
}  // namespace tessera
