// `tessera call` and `tessera probe` against a server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "program.h"
#include "support/temp_folder.h"
#include "tessera/base/file.h"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ClientCommandsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TempFolder;
    std::filesystem::create_directories(folder->path() / "input/identity");
    server = new ServerProcess({"vectoradd", "identity", "failing", "--port", "0", "--unix", socket(), "--input-path",
                                (folder->path() / "input").string()},
                               folder->path());
  }
  static void TearDownTestSuite() {
    delete server;
    delete folder;
  }

  static std::string socket() { return (folder->path() / "s").string(); }
  static std::string url(const std::string& name) { return "127.0.0.1:" + std::to_string(server->port()) + "/" + name; }
  static Outcome run(const Words& words) { return run_tessera(words, folder->path()); }

  static TempFolder* folder;
  static ServerProcess* server;
};

TempFolder* ClientCommandsTest::folder = nullptr;
ServerProcess* ClientCommandsTest::server = nullptr;

constexpr const char* kPayload = R"({"inputs": {"a": [1, 2], "b": [3, 4]}})";

TEST_F(ClientCommandsTest, CallPrintsTheAnswerAsItCame) {
  const Outcome outcome = run({"call", url("vectoradd"), "apply", "-f", "json+base64", kPayload});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, R"({"result":{"object_type":"array","shape":[2],"dtype":"float64","data":)"
                            R"({"buffer":"AAAAAAAAEEAAAAAAAAAYQA==","encoding":"base64"}}})"
                            "\n");
}

TEST_F(ClientCommandsTest, CallSpeaksThroughAUnixSocket) {
  const Outcome outcome = run({"call", "unix:" + socket() + ":/vectoradd", "health"});
  EXPECT_EQ(outcome.output, "{\"status\":\"ok\"}\n") << outcome.error;
}

TEST_F(ClientCommandsTest, CallTakesDashesForUnderscores) {
  const Outcome outcome = run({"call", url("vectoradd"), "vector-jacobian-product",
                               R"({"inputs": {"a": [1, 2], "b": [3, 4]}, "vjp_inputs": ["s"], "vjp_outputs": ["result"],
                                   "cotangent_vector": {"result": [1, 1]}})"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr(R"("buffer":3.0)"));
  EXPECT_THAT(run({"call", url("vectoradd"), "openapi-schema"}).output, HasSubstr("\"openapi\":\"3.1.0\""));
}

TEST_F(ClientCommandsTest, CallReadsAPayloadFromAFile) {
  ASSERT_TRUE(write_file(folder->path() / "p.json", kPayload));
  EXPECT_EQ(run({"call", url("vectoradd"), "apply", "@p.json"}).exit_code, 0);
  EXPECT_THAT(run({"call", url("vectoradd"), "apply", "p.json"}).error, HasSubstr("did you mean '@p.json'?"));
}

TEST_F(ClientCommandsTest, CallNamesTheRun) {
  EXPECT_EQ(run({"call", url("vectoradd"), "apply", kPayload, "--run-id", "a b"}).exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(folder->path() / "vectoradd/run_a b/logs/tesseract.log"));
}

TEST_F(ClientCommandsTest, CallSaysWhatIsWrong) {
  struct Case {
    Words words;
    int exit_code;
    const char* text;
  };
  const std::string there = url("vectoradd");
  const Case cases[] = {
      {{"call", there, "apply", R"({"inputs": {"a": [1]}})"}, 2, "body.inputs.b\n  Field required"},
      {{"call", there, "apply"}, 2, "Missing argument 'PAYLOAD'"},
      {{"call", there, "health", "{}"}, 2, "unexpected extra argument"},
      {{"call", there, "aply", "{}"}, 2, "Did you mean 'apply'?"},
      {{"call", there, "apply", kPayload, "-f", "json+msgpack"}, 2, "does not accept output_format='json+msgpack'"},
      {{"call", there, "apply", kPayload, "--timeout", "0"}, 2, "--timeout must be more than 0"},
      {{"call", "https://x", "health"}, 2, "TLS"},
      {{"call", "127.0.0.1:1", "health"}, 1, "Connection refused"},
      {{"call", url("nothing"), "apply", kPayload}, 1, "404"},
      {{"call", url("failing"), "apply", R"({"inputs": {"fail": "value_error"}})"}, 1, "Error 500 from Tesseract"},
  };
  for (const Case& one : cases) {
    const Outcome outcome = run(one.words);
    EXPECT_EQ(outcome.exit_code, one.exit_code) << outcome.error;
    EXPECT_THAT(outcome.error, HasSubstr(one.text));
    EXPECT_EQ(outcome.output, "");
  }
}

TEST_F(ClientCommandsTest, ProbeTellsWhatWorksAndHowFast) {
  const Outcome outcome = run({"probe", "--json", url("identity"), "--server-input-path", "input/identity"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.error;
  const auto document = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(document["title"], "identity");
  EXPECT_EQ(document["output_formats"].size(), 3U);
  for (const auto& row : document["rows"]) {
    const std::string name = row["name"];
    if (name.starts_with("cuda_ipc")) {
      EXPECT_EQ(row["works"], false);
      EXPECT_THAT(row["reason"].get<std::string>(), HasSubstr("does not offer it"));
    } else {
      EXPECT_EQ(row["works"], true) << row;
      EXPECT_GT(row["round_trip_us"].get<double>(), 0.0) << row;
    }
    EXPECT_EQ(row["gigabytes_per_second"].is_number(), name.starts_with("base64") || name.starts_with("binref")) << row;
  }
}

TEST_F(ClientCommandsTest, ProbeComputesNothingUnlessItIsToldTo) {
  // The server counts what it ran, by status.
  const auto metrics = [] { return httplib::Client("127.0.0.1", server->port()).Get("/metrics")->body; };
  const std::string done = R"(tesseract="identity",endpoint="apply",status="200")";
  const std::string refused = R"(tesseract="identity",endpoint="apply",status="422")";
  EXPECT_EQ(run({"probe", url("identity")}).exit_code, 0);
  EXPECT_THAT(metrics(), AllOf(Not(HasSubstr(done)), HasSubstr(refused)));
  const Outcome told = run({"probe", url("vectoradd"), "--apply", kPayload});
  EXPECT_THAT(told.output, HasSubstr("apply, answer as json+base64 with lz4  yes"));
}

TEST_F(ClientCommandsTest, ProbeSaysWhyAServerCannotBeUsed) {
  const Outcome outcome = run({"probe", "127.0.0.1:1"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, StartsWith("tessera probe: cannot connect to http://127.0.0.1:1"));
  const Outcome wrong = run({"probe", url("identity"), "--server-input-path", "/nowhere"});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.error, HasSubstr("server_input_path"));
}

TEST_F(ClientCommandsTest, ProbeFindsAFolderThatIsNotTheServers) {
  std::filesystem::create_directories(folder->path() / "elsewhere");
  const Outcome outcome = run({"probe", url("identity"), "--server-input-path", "elsewhere"});
  EXPECT_THAT(outcome.output, HasSubstr("binref: arrays sent as files          no"));
  EXPECT_THAT(outcome.output, HasSubstr("no such file"));
}

}  // namespace
}  // namespace tessera::testing
