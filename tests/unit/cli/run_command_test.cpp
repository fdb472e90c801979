#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>
#include <string>

#include "program.h"
#include "support/temp_folder.h"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kPayload = R"({"inputs": {"a": [5, 8, 11], "b": [4, 6, 8], "s": 2}})";
constexpr const char* kResult =
    R"({"result":{"object_type":"array","shape":[3],"dtype":"float64","data":{"buffer":[14.0,22.0,30.0],"encoding":"json"}}})";
constexpr const char* kResultInBase64 =
    R"({"result":{"object_type":"array","shape":[3],"dtype":"float64","data":{"buffer":"AAAAAAAALEAAAAAAAAA2QAAAAAAAAD5A","encoding":"base64"}}})";

class RunCommandTest : public ::testing::Test {
 protected:
  [[nodiscard]] Outcome run(const Words& words, const Environment& environment = {}) const {
    Words all = words;
    all.insert(all.begin(), "run");
    return run_tessera(all, folder.path(), environment);
  }

  TempFolder folder;
};

TEST_F(RunCommandTest, PrintsTheResultAndNothingElse) {
  const Outcome outcome = run({"vectoradd", "apply", kPayload});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, kResult);
  EXPECT_EQ(outcome.error, "");
}

TEST_F(RunCommandTest, ReadsThePayloadOfAFile) {
  folder.write("payload.json", kPayload);
  EXPECT_EQ(run({"vectoradd", "apply", "@payload.json"}).output, kResult);
}

TEST_F(RunCommandTest, TakesOptionsAnywhere) {
  EXPECT_EQ(run({"-f", "json+base64", "vectoradd", "apply", kPayload}).output, kResultInBase64);
  EXPECT_EQ(run({"vectoradd", "--output-format=json+base64", "apply", kPayload}).output, kResultInBase64);
  EXPECT_EQ(run({"vectoradd", "apply", kPayload, "--output-format", "json+base64"}).output, kResultInBase64);
}

TEST_F(RunCommandTest, TakesUnderscoresForDashes) {
  EXPECT_EQ(run({"vectoradd", "abstract_eval",
                 R"({"inputs": {"a": {"shape": [2], "dtype": "float64"}, "b": {"shape": [2], "dtype": "float64"}}})"})
                .output,
            R"({"result":{"shape":[2],"dtype":"float64"}})");
}

// What is not there counts as zeros of its declared shape, without elements along free axes.
TEST_F(RunCommandTest, GivesGradientsOfArraysThatAreNotThere) {
  EXPECT_EQ(run({"everything", "jacobian",
                 R"({"inputs": {}, "jac_inputs": ["scalar_f64"], "jac_outputs": ["points.[0].position"]})"})
                .output,
            R"({"points.[0].position":{"scalar_f64":{"object_type":"array","shape":[3],"dtype":"float64",)"
            R"("data":{"buffer":[0.0,0.0,0.0],"encoding":"json"}}}})");
  EXPECT_EQ(run({"everything", "vector-jacobian-product",
                 R"({"inputs": {}, "vjp_inputs": ["f64"], "vjp_outputs": ["fields.{p}"], )"
                 R"("cotangent_vector": {"fields.{p}": [1]}})"})
                .output,
            R"({"f64":{"object_type":"array","shape":[0],"dtype":"float64","data":{"buffer":[],"encoding":"json"}}})");
}

TEST_F(RunCommandTest, WritesArrayFilesIntoTheOutputPath) {
  const Outcome outcome = run({"vectoradd", "apply", "-f", "json+binref", "-o", "out/deep", kPayload});
  std::smatch found;
  ASSERT_TRUE(std::regex_search(outcome.output, found, std::regex("\"([0-9a-f-]{36}\\.bin):0\""))) << outcome.error;
  EXPECT_EQ(std::filesystem::file_size(folder.path() / "out/deep" / found[1].str()), 24U);
}

TEST_F(RunCommandTest, WritesTheResultToAnOutputFile) {
  const Outcome outcome = run({"vectoradd", "apply", kPayload, "-o", "out", "--output-file", "sub/result.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(outcome.output, "");
  EXPECT_EQ(folder.read("out/sub/result.json"), kResult);
}

TEST_F(RunCommandTest, LeavesNothingBehindARefusedPayload) {
  EXPECT_EQ(run({"vectoradd", "apply", "{}"}).exit_code, 2);
  EXPECT_EQ(run({"vectoradd", "test", "{}"}).exit_code, 2);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(RunCommandTest, KeepsTheOutputFileBelowTheOutputPath) {
  const Outcome outcome = run({"vectoradd", "apply", kPayload, "-o", "out", "--output-file", "../result.json"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_FALSE(folder.has("result.json"));
}

TEST_F(RunCommandTest, SendsWhatTheTesseractPrintsToTheLogAndToStandardError) {
  const Outcome outcome =
      run({"failing", "apply", R"({"inputs": {"x": [1], "log": ["from out"], "log_error": ["from error"]}})"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output.find("from"), std::string::npos);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("from out"), HasSubstr("from error")));
  EXPECT_EQ(folder.read("logs/tesseract.log"), "from out\nfrom error\n");
}

TEST_F(RunCommandTest, FailsAsTheEndpointFails) {
  const Outcome outcome = run({"failing", "apply", R"({"inputs": {"fail": "key_error", "message": "no such part"}})"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.error, HasSubstr("KeyError: no such part"));
}

TEST_F(RunCommandTest, FailsIfTheOutputBreaksItsSchema) {
  const Outcome outcome = run({"failing", "apply", R"({"inputs": {"fail": "missing_output"}})"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.output, "");
}

TEST_F(RunCommandTest, RefusesAPayloadThatBreaksTheSchemaAndWritesNothing) {
  const Outcome outcome = run({"vectoradd", "apply", R"({"inputs": {"a": [1]}})"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.output, "");
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("Invalid value for payload: 1 validation error for ApplyInputSchema"),
                                   HasSubstr("inputs.b"), HasSubstr("Field required")));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST_F(RunCommandTest, SaysWhereAPayloadStopsBeingJson) {
  Outcome outcome = run({"vectoradd", "apply", R"({"inputs)"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("not JSON: Unterminated string starting at: line 1 column 2 (char 1)"));
  outcome = run({"vectoradd", "apply", "{\n \"ä\": ]}"});
  EXPECT_THAT(outcome.error, HasSubstr("line 2 column 7 (char 8)"));
}

TEST_F(RunCommandTest, SuggestsTheAtOfAFile) {
  folder.write("payload", kPayload);
  for (const std::string name : {"payload", "./payload", "nofile.json"}) {
    const Outcome outcome = run({"vectoradd", "apply", name});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.error, HasSubstr("did you mean '@" + name + "'?"));
  }
}

TEST_F(RunCommandTest, SuggestsTheCommandThatWasMeant) {
  const Outcome outcome = run({"vectoradd", "aply", kPayload});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("No such command 'aply'. Did you mean 'apply'?"));
}

TEST_F(RunCommandTest, HasNoCommandForAnEndpointThatIsMissing) {
  EXPECT_EQ(run({"failing", "jacobian", kPayload}).exit_code, 2);
}

TEST_F(RunCommandTest, NamesTheFormatsThatThereAre) {
  const Outcome outcome = run({"vectoradd", "apply", kPayload, "-f", "json+zip"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("--output-format"), HasSubstr("json+zip"), HasSubstr("json+base64"),
                                   HasSubstr("json+binref")));
}

TEST_F(RunCommandTest, BlamesTheVariableForABadVariable) {
  const Outcome outcome = run({"vectoradd", "health"}, {{"TESSERACT_OUTPUT_FORMAT", "xml"}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("TESSERACT_OUTPUT_FORMAT"));
}

TEST_F(RunCommandTest, NamesATesseractThatNobodyHas) {
  const Outcome outcome = run({"nobody", "apply", kPayload});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("'nobody'"));
}

TEST_F(RunCommandTest, PrintsHelpWithExamples) {
  const Outcome outcome = run({"--help"});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("Examples:"), HasSubstr("--output-format"), HasSubstr("@FILE")));
}

}  // namespace
}  // namespace tessera::testing
