// What errors a server's answers with a status become.
#include <string>

#include "client_errors.h"
#include "scripted_server.h"

namespace tessera {
namespace {

using Kind = ClientError::Kind;
using testing::error_of;
using ::testing::HasSubstr;
using testing::response_of;
using testing::ScriptedServer;

std::optional<ClientError> refusal_of(const std::string& response) {
  const ScriptedServer server(ScriptedServer::answering(response));
  return error_of([&server] { static_cast<void>(Tesseract::from_url(server.url()).apply({})); });
}

std::optional<ClientError> unprocessable(const std::string& body) {
  return refusal_of(response_of("422 Unprocessable Entity", body));
}

TEST(RefusalTest, ListsTheItemsOfA422) {
  const auto error = unprocessable(
      R"({"detail":[{"type":"missing","loc":["body","inputs","a",0],"msg":"Field required","input":{"b":1}},)"
      R"({"type":"array_shape_mismatch","loc":["body"],"msg":"wrong","input":null,"ctx":{"n":3}}]})");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kRefused);
  EXPECT_EQ(error->status(), 422);
  EXPECT_EQ(error->title(), "endpoint apply");
  ASSERT_EQ(error->items().size(), 2U);
  EXPECT_EQ(error->items()[0].type, "missing");
  EXPECT_EQ(error->items()[0].message, "Field required");
  EXPECT_EQ(error->items()[0].place[2].text(), "a");
  EXPECT_EQ(error->items()[0].place[3].integer(), 0);
  EXPECT_EQ(error->items()[0].input.object()["b"].integer(), 1);
  EXPECT_EQ(error->items()[1].context.object()["n"].integer(), 3);
  EXPECT_STREQ(
      error->what(),
      "2 validation errors for endpoint apply\nbody.inputs.a.0\n  Field required [type=missing]\nbody\n  wrong "
      "[type=array_shape_mismatch]");
}

TEST(RefusalTest, ReadsItemsThatLackParts) {
  const auto error = unprocessable(R"({"detail":[{}, 7, {"type":3,"loc":"x","msg":null}]})");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kRefused);
  EXPECT_EQ(error->items().size(), 3U);
}

TEST(RefusalTest, ShowsTheFirstOfManyItems) {
  std::string items = R"({"type":"t","loc":[],"msg":"m"})";
  for (int i = 0; i != 99; ++i) {
    items += R"(,{"type":"t","loc":[],"msg":"m"})";
  }
  const auto error = unprocessable(R"({"detail":[)" + items + "]}");
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->items().size(), 100U);
  EXPECT_THAT(error->what(), HasSubstr("… and 80 more"));
}

TEST(RefusalTest, TakesA422OfAnotherFormAsAnyStatus) {
  for (const char* const body :
       {R"({"detail":"no"})", R"({"detail":{"a":1}})", "{}", "[]", "", "text", R"({"detail":[})"}) {
    const auto error = unprocessable(body);
    ASSERT_TRUE(error.has_value());
    EXPECT_EQ(error->kind(), Kind::kStatus);
    EXPECT_EQ(error->status(), 422);
    EXPECT_THAT(error->what(), HasSubstr("Error 422 from Tesseract: " + std::string(body)));
  }
}

TEST(RefusalTest, HasTheTextOfA500) {
  const auto error = refusal_of(
      response_of("500 Internal Server Error", "Traceback (most recent call last):\nValueError: the mesh is empty"));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->kind(), Kind::kStatus);
  EXPECT_EQ(error->status(), 500);
  EXPECT_THAT(error->what(), HasSubstr("Error 500 from Tesseract: Traceback"));
  EXPECT_THAT(error->what(), HasSubstr("the mesh is empty"));
}

TEST(RefusalTest, CutsALongText) {
  const auto error = refusal_of(response_of("500 Internal Server Error", std::string(1'000'000, 'x')));
  ASSERT_TRUE(error.has_value());
  EXPECT_LT(std::string(error->what()).size(), 5000U);
  EXPECT_THAT(error->what(), HasSubstr("… (1000000 bytes)"));
}

TEST(RefusalTest, MakesTheTextUtf8) {
  const auto error = refusal_of(response_of("500 Internal Server Error", "a\xff z"));
  ASSERT_TRUE(error.has_value());
  EXPECT_THAT(error->what(), HasSubstr("a\xef\xbf\xbd z"));
}

TEST(RefusalTest, SaysWhenToTryAgain) {
  const auto error = refusal_of(response_of("503 Service Unavailable", "busy", "Retry-After: 5\r\n"));
  ASSERT_TRUE(error.has_value());
  EXPECT_EQ(error->status(), 503);
  EXPECT_THAT(error->what(), HasSubstr("(try again after 5 s)"));
}

TEST(RefusalTest, IsTheSameForOtherRoutes) {
  const ScriptedServer server(ScriptedServer::answering(response_of("404 Not Found", R"({"detail":"Not Found"})")));
  const Tesseract client = Tesseract::from_url(server.url());
  testing::expect_error(Kind::kStatus, R"(Error 404 from Tesseract: {"detail":"Not Found"})",
                        [&client] { static_cast<void>(client.abstract_eval({})); });
}

}  // namespace
}  // namespace tessera
