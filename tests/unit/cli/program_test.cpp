#include "program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "support/temp_folder.h"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(ProgramTest, PrintsItsVersion) {
  const TempFolder folder;
  const Outcome outcome = run_tessera({"--version"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "tessera " TESSERA_VERSION "\n");
}

TEST(ProgramTest, PrintsItsCommandsAndExamples) {
  const TempFolder folder;
  const Outcome outcome = run_tessera({"--help"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("serve"), HasSubstr("build"), HasSubstr("Examples:")));
}

TEST(ProgramTest, IsOfNoUseWithoutACommand) {
  const TempFolder folder;
  EXPECT_EQ(run_tessera({}, folder.path()).exit_code, 2);
}

TEST(ProgramTest, SuggestsTheCommandThatWasMeant) {
  const TempFolder folder;
  const Outcome outcome = run_tessera({"sreve"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.error, HasSubstr("No such command 'sreve'. Did you mean 'serve'?"));
}

TEST(ProgramTest, EveryCommandHasHelpWithExamples) {
  const TempFolder folder;
  for (const char* command : {"serve", "run", "list", "new", "build"}) {
    const Outcome outcome = run_tessera({command, "--help"}, folder.path());
    EXPECT_EQ(outcome.exit_code, 0) << command;
    EXPECT_THAT(outcome.output, HasSubstr("Examples:")) << command;
  }
}

TEST(ProgramTest, FailsIfItsOutputCannotBeWritten) {
  const TempFolder folder;
  for (const char* words : {"list", "--help", "--version", "serve --help"}) {
    const Outcome outcome = run_script(std::string("$TESSERA ") + words + " >/dev/full", folder.path());
    EXPECT_EQ(outcome.exit_code, 1) << words;
    EXPECT_THAT(outcome.error, HasSubstr("cannot write")) << words;
  }
}

TEST(ProgramTest, WorksWithStandardDescriptorsClosed) {
  const TempFolder folder;
  const std::string run = R"($TESSERA run vectoradd apply '{"inputs": {"a": [1], "b": [2]}}' )";
  const std::string result = run_script(run, folder.path()).output;
  EXPECT_THAT(result, HasSubstr("[3.0]"));
  EXPECT_EQ(run_script(run + "2>&-", folder.path()).output, result);
  EXPECT_EQ(run_script(run + "0<&- 2>&-", folder.path()).output, result);
  EXPECT_EQ(run_script(run + "0<&- 1>&- 2>&-", folder.path()).exit_code, 0);
}

TEST(ListCommandTest, ListsNamePathAndDescription) {
  const TempFolder folder;
  const Outcome outcome = run_tessera({"list"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("univariate"), HasSubstr("vectoradd.so"), HasSubstr("Multiplies a by s and adds b.")));
}

TEST(ListCommandTest, SaysWhyAModuleDoesNotLoad) {
  const TempFolder folder;
  folder.write("broken.so", "no library");
  const Outcome outcome = run_tessera({"list"}, folder.path(), {{"TESSERA_PATH", folder.path().string()}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, StartsWith("broken"));
  EXPECT_THAT(outcome.output, HasSubstr("broken.so"));
}

}  // namespace
}  // namespace tessera::testing
