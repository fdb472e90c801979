#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string>
#include <tuple>

#include "http_strictness_cases.h"
#include "test_server.h"

namespace tessera {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;
using Then = StrictnessCase::Then;

constexpr seconds kCloseTime{30};

// How the bytes of a case reach the server.
enum class Delivery {
  kWhole,
  kInPieces,    // byte by byte, unless there are very many
  kHalfClosed,  // whole, and then the client closes its side
};

std::string name_of(Delivery delivery) {
  return delivery == Delivery::kWhole ? "Whole" : delivery == Delivery::kInPieces ? "InPieces" : "HalfClosed";
}

void deliver(RawConnection& client, std::string_view bytes, Delivery delivery) {
  constexpr std::size_t kMostByteByByte = 2000;
  const std::size_t piece = delivery != Delivery::kInPieces   ? bytes.size()
                            : bytes.size() <= kMostByteByByte ? 1
                                                              : std::size_t{1000};
  // What comes behind a refusal may find the connection closed.
  for (std::size_t at = 0; at < bytes.size() && client.send(bytes.substr(at, piece)); at += piece) {
  }
  if (delivery == Delivery::kHalfClosed) {
    client.close_writing();
  }
}

using StrictnessParameter = std::tuple<StrictnessCase, Delivery>;

class HttpStrictnessTest : public ::testing::TestWithParam<StrictnessParameter> {};

TEST_P(HttpStrictnessTest, GivesTheOneRightAnswer) {
  const auto& [expected, delivery] = GetParam();
  SCOPED_TRACE(expected.name);
  const TestServer test({.body_bytes = kStrictnessBodyBytes});
  RawConnection client = test.connect();
  deliver(client, expected.bytes, delivery);
  for (int i = 1; i < expected.answers; ++i) {
    EXPECT_EQ(client.read_response().status, 200);
  }
  const auto answer = client.read_response();
  ASSERT_EQ(answer.status, expected.status);
  EXPECT_THAT(answer.body, HasSubstr(expected.words));
  EXPECT_EQ(test.service.begun, expected.good_requests);
  if (expected.status == 400) {
    EXPECT_EQ(answer.body, expected.words);
    EXPECT_EQ(answer.headers.at("content-type"), "text/plain; charset=utf-8");
  } else if (expected.status != 200) {
    EXPECT_THAT(answer.body, ::testing::StartsWith("{\"detail\":\""));
    EXPECT_EQ(answer.headers.at("content-type"), "application/json");
  }
  if (expected.then == Then::kKept && delivery != Delivery::kHalfClosed) {
    const auto next = client.exchange(get("/health"));
    EXPECT_EQ(next.status, 200);
    EXPECT_EQ(next.body, "ok");
  } else {
    EXPECT_TRUE(client.is_closed_within(kCloseTime));
  }
  EXPECT_EQ(answer.headers.contains("connection") && answer.headers.at("connection") == "close",
            expected.then == Then::kClosed);
}

std::string test_name(const ::testing::TestParamInfo<StrictnessParameter>& parameter) {
  std::string name = std::get<0>(parameter.param).name;
  std::ranges::replace_if(name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name + "_" + name_of(std::get<1>(parameter.param)) + "_" + std::to_string(parameter.index);
}

INSTANTIATE_TEST_SUITE_P(All, HttpStrictnessTest,
                         ::testing::Combine(::testing::ValuesIn(strictness_cases()),
                                            ::testing::Values(Delivery::kWhole, Delivery::kInPieces,
                                                              Delivery::kHalfClosed)),
                         test_name);

// Cut where nothing is whole yet, a request is neither run nor answered.
class CutRequestTest : public ::testing::TestWithParam<std::string> {};

TEST_P(CutRequestTest, IsNotRunWhereverItIsCut) {
  const TestServer test;
  const std::string& request = GetParam();
  for (std::size_t size = 0; size < request.size(); ++size) {
    RawConnection client = test.connect();
    ASSERT_TRUE(client.send(std::string_view(request).substr(0, size)));
    client.close_writing();
    EXPECT_TRUE(client.is_closed_within(kCloseTime)) << "after " << size << " bytes";
  }
  EXPECT_EQ(test.service.begun, 0);
  EXPECT_EQ(test.connect().exchange(request).body, "hello");
}

TEST_P(CutRequestTest, IsNotRunIfItsClientGoesWhollyInBetween) {
  const TestServer test;
  const std::string& request = GetParam();
  for (std::size_t size = 0; size < request.size(); ++size) {
    RawConnection client = test.connect();
    ASSERT_TRUE(client.send(std::string_view(request).substr(0, size)));
  }
  EXPECT_EQ(test.connect().exchange(request).body, "hello");
  EXPECT_EQ(test.service.begun, 1);
}

INSTANTIATE_TEST_SUITE_P(All, CutRequestTest,
                         ::testing::Values(post("/echo", "hello"),
                                           "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                           "2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nA: b\r\n\r\n",
                                           "POST /echo HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello"));

TEST(PipelineTest, AnswersAThousandRequestsInOrder) {
  const TestServer test;
  RawConnection client = test.connect();
  std::string requests;
  for (int i = 0; i < 1000; ++i) {
    requests += i % 3 == 0 ? "POST /echo HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n" +
                                 std::to_string(1000 + i) + "\r\n0\r\n\r\n"
                           : post("/echo", std::to_string(1000 + i));
  }
  client.send(requests);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(client.read_response().body, std::to_string(1000 + i));
  }
  EXPECT_EQ(client.exchange(get("/health")).body, "ok");
}

// Whoever closes his side behind his last request still wants all answers.
TEST(PipelineTest, AnswersAThousandRequestsOfAHalfClosedPeer) {
  const TestServer test;
  RawConnection client = test.connect();
  std::string requests;
  for (int i = 0; i < 1000; ++i) {
    requests += post("/echo", std::to_string(i));
  }
  client.send(requests);
  client.close_writing();
  for (int i = 0; i < 1000; ++i) {
    ASSERT_EQ(client.read_response().body, std::to_string(i));
  }
  EXPECT_TRUE(client.is_closed_within(kCloseTime));
}

TEST(PipelineTest, EndsAtTheFirstBadRequest) {
  const TestServer test;
  RawConnection client = test.connect();
  std::string requests;
  for (int i = 0; i < 1000; ++i) {
    requests += i == 500 ? "get /health HTTP/1.1\r\nHost: x\r\n\r\n" : post("/echo", std::to_string(i));
  }
  client.send(requests);
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(client.read_response().body, std::to_string(i));
  }
  EXPECT_EQ(client.read_response().status, 400);
  EXPECT_TRUE(client.is_closed_within(kCloseTime));
  EXPECT_EQ(test.service.begun, 500);
}

}  // namespace
}  // namespace tessera
