// When and how a server hears which of its exports are done with.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>

#include "client_errors.h"
#include "scripted_server.h"
#include "support/child_process.h"

namespace tessera {
namespace {

using std::chrono::milliseconds;
using testing::ChildProcess;
using ::testing::ElementsAre;
using testing::ok_response;
using testing::RecordedRequest;
using testing::response_of;
using testing::ScriptedConnection;
using testing::ScriptedServer;

constexpr const char* kId = "0123456789abcdef0123456789abcdef";
constexpr milliseconds kNever{1'000'000};

// A server that exports something under this id with each answer to a POST.
ScriptedServer::Script exporting(const std::string& id, const std::string& status = "200 OK",
                                 const std::string& body = "{}") {
  return [=](ScriptedConnection& connection) {
    while (const auto request = connection.read()) {
      connection.send(request->line().starts_with("POST")
                          ? response_of(status, body, "Tesseract-Exports: " + id + "\r\n")
                          : ok_response("{}"));
    }
  };
}

ClientOptions flushing_after(milliseconds time) {
  ClientOptions options;
  options.exports_idle_time = time;
  return options;
}

// What each request named; "none" without a header.
std::vector<std::string> named(const ScriptedServer& server) {
  std::vector<std::string> values;
  for (const RecordedRequest& request : server.requests()) {
    values.push_back(request.header("Tesseract-Exports-Done").value_or("none"));
  }
  return values;
}

TEST(FinishedExportsTest, AreAlwaysNamedEvenIfThereAreNone) {
  ScriptedServer server(ScriptedServer::answering(ok_response(testing::small_document())));
  server.set_document("");
  const Tesseract client = Tesseract::from_url(server.url());
  static_cast<void>(client.health());
  static_cast<void>(client.apply({}));
  static_cast<void>(client.abstract_eval({}));
  client.close();
  EXPECT_THAT(named(server), ElementsAre("", "", "", ""));
}

TEST(FinishedExportsTest, AreNamedByTheNextRequestOfAnyKind) {
  const ScriptedServer server(exporting(kId));
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
  static_cast<void>(client.apply({}));
  static_cast<void>(client.health());
  static_cast<void>(client.health());
  static_cast<void>(client.apply({}));
  static_cast<void>(client.abstract_eval({}));
  EXPECT_THAT(named(server), ElementsAre("", kId, "", "", kId));
}

TEST(FinishedExportsTest, AreNamedByAnotherView) {
  const ScriptedServer server(exporting(kId));
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
  static_cast<void>(client.apply({}));
  static_cast<void>(client.with_encoding({.output_format = "json"}).apply({}));
  EXPECT_THAT(named(server), ElementsAre("", kId));
}

TEST(FinishedExportsTest, AreNamedAfterAnErrorToo) {
  for (const auto& [status, body] : {std::pair("200 OK", "no JSON"), std::pair("500 Internal Server Error", "x"),
                                     std::pair("422 Unprocessable Entity", R"({"detail":[]})")}) {
    const ScriptedServer server(exporting(kId, status, body));
    const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
    static_cast<void>(testing::error_of([&client] { static_cast<void>(client.apply({})); }));
    static_cast<void>(client.health());
    EXPECT_THAT(named(server), ElementsAre("", kId));
  }
}

TEST(FinishedExportsTest, AreNamedAfterTheIdleTime) {
  ScriptedServer server(exporting(kId));
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(milliseconds(20)));
  for (std::size_t round = 1; round != 4; ++round) {
    static_cast<void>(client.apply({}));
    ASSERT_TRUE(server.wait_for_requests(2 * round));
  }
  EXPECT_EQ(server.requests().back().line(), "GET /health");
  EXPECT_THAT(named(server), ElementsAre("", kId, "", kId, "", kId));
}

TEST(FinishedExportsTest, AreNamedAfterTheIdleTimeByEachOfManyClients) {
  for (int round = 0; round != 20; ++round) {
    ScriptedServer server(exporting(kId));
    const Tesseract client = Tesseract::from_url(server.url(), flushing_after(milliseconds(1)));
    static_cast<void>(client.apply({}));
    ASSERT_TRUE(server.wait_for_requests(2)) << round;
  }
}

TEST(FinishedExportsTest, AreNamedOnClose) {
  const ScriptedServer server(exporting(kId));
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
  static_cast<void>(client.apply({}));
  client.close();
  client.close();
  EXPECT_THAT(named(server), ElementsAre("", kId));
  EXPECT_EQ(server.requests().back().line(), "GET /health");
}

TEST(FinishedExportsTest, AreNamedWhenTheLastViewGoes) {
  const ScriptedServer server(exporting(kId));
  {
    const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
    {
      static_cast<void>(client.with_encoding({.output_format = "json"}).apply({}));
    }
    EXPECT_EQ(server.requests().size(), 1U);
  }
  EXPECT_THAT(named(server), ElementsAre("", kId));
}

TEST(FinishedExportsTest, AreNamedBelowThePrefix) {
  const ScriptedServer server(exporting(kId));
  const Tesseract client = Tesseract::from_url(server.url() + "/name", flushing_after(kNever));
  static_cast<void>(client.apply({}));
  client.close();
  EXPECT_EQ(server.requests().back().line(), "GET /name/health");
}

TEST(FinishedExportsTest, AreNamedAgainIfTheRequestFailed) {
  const auto export_and_end = [](ScriptedConnection& connection) {
    connection.answer(ok_response("{}", "Connection: close\r\nTesseract-Exports: " + std::string(kId) + "\r\n"));
  };
  const auto say_nothing_and_end = [](ScriptedConnection& connection) { static_cast<void>(connection.read()); };
  const ScriptedServer server({export_and_end, say_nothing_and_end, ScriptedServer::answering(ok_response("{}"))});
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
  static_cast<void>(client.apply({}));
  testing::expect_error(ClientError::Kind::kConnection, "", [&client] { static_cast<void>(client.health()); });
  static_cast<void>(client.health());
  static_cast<void>(client.health());
  EXPECT_THAT(named(server), ElementsAre("", kId, kId, ""));
}

TEST(FinishedExportsTest, AreNotNamedIfTheyCouldNotStandInAHeader) {
  const std::string too_long(65, 'a');
  for (const std::string& id : {std::string("a b"), std::string("a,b"), std::string("a\tb"), std::string("a;b"),
                                std::string("\xff"), std::string(""), too_long}) {
    const ScriptedServer server(exporting(id));
    const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
    static_cast<void>(client.apply({}));
    static_cast<void>(client.health());
    EXPECT_THAT(named(server), ElementsAre("", "")) << id;
  }
}

TEST(FinishedExportsTest, AreNamedManyAtATimeButNotTooMany) {
  // Each thread's answer comes only once all have asked, so none of them names what the others got.
  const ScriptedServer server([](ScriptedConnection& connection) {
    std::size_t count = 0;
    while (const auto request = connection.read()) {
      const std::string id = "id" + std::to_string(count++);
      connection.send(request->line().starts_with("POST")
                          ? response_of("500 No", "", "Tesseract-Exports: " + id + "\r\n")
                          : ok_response("{}"));
    }
  });
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
  static_cast<void>(testing::error_of([&client] { static_cast<void>(client.apply({})); }));
  static_cast<void>(testing::error_of([&client] { static_cast<void>(client.apply({})); }));
  client.close();
  EXPECT_THAT(named(server), ElementsAre("", "id0", "id1"));
}

TEST(FinishedExportsTest, AreNotWaitedForIfTheServerIsGone) {
  const auto begin = std::chrono::steady_clock::now();
  {
    auto server = std::make_unique<ScriptedServer>(exporting(kId));
    const Tesseract client = Tesseract::from_url(server->url(), flushing_after(kNever));
    static_cast<void>(client.apply({}));
    server.reset();
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(FinishedExportsTest, AreNotWaitedForLongIfTheServerHangs) {
  const auto export_and_hang = [](ScriptedConnection& connection) {
    connection.answer(ok_response("{}", "Tesseract-Exports: " + std::string(kId) + "\r\n"));
    static_cast<void>(connection.read());
    connection.wait_for_end();
  };
  const ScriptedServer server(export_and_hang);
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
  static_cast<void>(client.apply({}));
  const auto begin = std::chrono::steady_clock::now();
  client.close();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(60));
}

TEST(FinishedExportsTest, AreOfTheParentAfterAFork) {
  const ScriptedServer server(exporting(kId));
  const Tesseract client = Tesseract::from_url(server.url(), flushing_after(kNever));
  static_cast<void>(client.apply({}));
  const pid_t child = ::fork();
  if (child == 0) {
    client.close();
    static_cast<void>(client.health());
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  static_cast<void>(client.health());
  EXPECT_THAT(named(server), ElementsAre("", "", kId));
}

class ProgramEndTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Ends, ProgramEndTest,
                         ::testing::Values("return-from-main", "call-exit", "exit-with-a-global-client",
                                           "exit-after-a-fork"),
                         [](const auto& each) {
                           std::string name = each.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST_P(ProgramEndTest, NamesTheLastExports) {
  ScriptedServer server(exporting(kId));
  ChildProcess child(GetParam(), {{"TESSERA_TEST_URL", server.url()}});
  EXPECT_EQ(child.receive(), "called");
  EXPECT_EQ(child.finish(), 0);
  EXPECT_THAT(named(server), ElementsAre("", kId));
}

}  // namespace
}  // namespace tessera
