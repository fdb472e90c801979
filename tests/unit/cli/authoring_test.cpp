// The way of an author: new, build, run, serve.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <filesystem>
#include <iterator>
#include <string>

#include "program.h"
#include "support/temp_folder.h"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kResult =
    R"({"y":{"object_type":"array","shape":[3],"dtype":"float64","data":{"buffer":[10.0,20.0,30.0],"encoding":"json"}}})";

TEST(AuthoringTest, ANewTesseractBuildsRunsAndIsServed) {
  const TempFolder folder;
  const Outcome made = run_tessera({"new", "heat"}, folder.path());
  ASSERT_EQ(made.exit_code, 0) << made.error;

  const Outcome built = run_tessera({"build", "heat/heat.cpp"}, folder.path(), {{"CXXFLAGS", "-Wall -Werror"}});
  ASSERT_EQ(built.exit_code, 0) << built.error;

  const Outcome run = run_tessera({"run", "./heat", "apply", "@heat/example_inputs.json"}, folder.path());
  EXPECT_EQ(run.exit_code, 0) << run.error;
  EXPECT_EQ(run.output, kResult);

  ServerProcess server({"./heat", "--port", "0"}, folder.path());
  httplib::Client client("127.0.0.1", server.port());
  const auto answer = client.Post("/heat/apply", folder.read("heat/example_inputs.json"), "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, kResult);
  EXPECT_EQ(server.stop(), 0);
}

TEST(NewCommandTest, WritesASourceThatIsInForm) {
  const TempFolder folder;
  ASSERT_EQ(run_tessera({"new", "heat"}, folder.path()).exit_code, 0);
  const std::string source = folder.read("heat/heat.cpp");
  for (const char* at_the_margin :
       {"\n//\n", "\nusing namespace tessera;\n", "\nnamespace {\n", "\nSchema input_schema() {\n  return Schema(",
        "\nObject apply(", "\n}  // namespace\n",
        "\nTESSERA_MODULE {\n  return TesseractDefinition(\"heat\")\n      .version(", ";\n}\n"}) {
    EXPECT_THAT(source, HasSubstr(at_the_margin));
  }
  EXPECT_THAT(source, Not(HasSubstr(" \n")));
}

TEST(NewCommandTest, LeavesAFolderAloneThatIsThere) {
  const TempFolder folder;
  folder.write("heat/notes.txt", "mine");
  EXPECT_EQ(run_tessera({"new", "heat"}, folder.path()).exit_code, 1);
  EXPECT_FALSE(folder.has("heat/heat.cpp"));
}

TEST(NewCommandTest, RefusesNamesThatNoTesseractCanHave) {
  const TempFolder folder;
  for (const char* name : {"a b", "../up", "health", "openapi.json", ".hid", "9x", "-x", "."}) {
    EXPECT_EQ(run_tessera({"new", "--", name}, folder.path()).exit_code, 2) << name;
  }
}

TEST(NewCommandTest, MakesTheFolderWhereItIsTold) {
  const TempFolder folder;
  EXPECT_EQ(run_tessera({"new", "heat", "--dir", "solvers/mine"}, folder.path()).exit_code, 0);
  EXPECT_TRUE(folder.has("solvers/mine/heat/heat.cpp"));
  EXPECT_TRUE(folder.has("solvers/mine/heat/README.md"));
}

TEST(BuildCommandTest, ShowsWhatTheCompilerSays) {
  const TempFolder folder;
  folder.write("bad.cpp", "int f( {");
  const Outcome outcome = run_tessera({"build", "bad.cpp"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("bad.cpp:1"), HasSubstr("the compiler failed")));
}

TEST(BuildCommandTest, HandsTheWordsBehindTheDashesToTheCompiler) {
  const TempFolder folder;
  folder.write("macro.cpp", R"(#include "tessera/tesseract/tesseract.h"
TESSERA_MODULE {
  return tessera::TesseractDefinition(NAME).apply(
      [](const tessera::Object& inputs, tessera::Context&) { return inputs; });
})");
  const Outcome outcome = run_tessera({"build", "macro.cpp", "-o", "out.so", "--", "-DNAME=\"given\""}, folder.path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, HasSubstr("'given'"));
  EXPECT_TRUE(folder.has("out.so"));
}

constexpr const char* kGoodSource = R"(#include "tessera/tesseract/tesseract.h"
TESSERA_MODULE {
  return tessera::TesseractDefinition("good").apply(
      [](const tessera::Object& inputs, tessera::Context&) { return inputs; });
})";

TEST(BuildCommandTest, LeavesTheModuleThatIsThereUntilTheNewOneLoads) {
  const TempFolder folder;
  folder.write("good.so", "the old one");
  for (const char* source : {"int f( {", "int f(); int g() { return f(); }", ""}) {
    folder.write("good.cpp", source);
    // The second fails to link, the third to load.
    EXPECT_EQ(run_tessera({"build", "good.cpp", "--", "-Wl,-z,defs"}, folder.path()).exit_code, 1) << source;
    EXPECT_EQ(folder.read("good.so"), "the old one");
  }
  folder.write("good.cpp", kGoodSource);
  EXPECT_EQ(run_tessera({"build", "good.cpp"}, folder.path()).exit_code, 0);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 2);
  EXPECT_EQ(run_tessera({"run", "./good.so", "health"}, folder.path()).exit_code, 0);
}

TEST(BuildCommandTest, SaysWhatIsNoSource) {
  const TempFolder folder;
  folder.write("heat/heat.cpp", "");
  folder.write("heat/heat.so", "");
  for (const char* word : {"heat", "heat/heat.so", "heat/heat"}) {
    const Outcome outcome = run_tessera({"build", word}, folder.path());
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.error, HasSubstr("did you mean heat/heat.cpp?")) << word;
  }
  EXPECT_EQ(run_tessera({"build", "heat/heat.cpp", "-o", "heat/heat.cpp"}, folder.path()).exit_code, 2);
  EXPECT_EQ(run_tessera({"build", "heat/heat.cpp", "-o", "heat"}, folder.path()).exit_code, 2);
}

TEST(BuildCommandTest, KeepsQuotedFlagsTogether) {
  const TempFolder folder;
  folder.write("good.cpp", std::string("static_assert(sizeof Y == 4);\n") + kGoodSource);
  const Outcome outcome = run_tessera({"build", "good.cpp"}, folder.path(), {{"CXXFLAGS", R"(-DY='"q r"')"}});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_EQ(run_tessera({"build", "good.cpp"}, folder.path(), {{"CXXFLAGS", "-DY='"}}).exit_code, 1);
}

TEST(BuildCommandTest, SaysWhichCompilerAModuleNeeds) {
  const TempFolder folder;
  // What another compiler would have left in the module.
  folder.write("good.cpp", R"(#include "tessera/tesseract/tesseract.h"
extern "C" __attribute__((visibility("default"))) const TesseraModule tessera_module;
extern "C" const TesseraModule tessera_module = {
    tessera::kModuleMagic, tessera::kModuleAbi, TESSERA_HEADERS_HASH, "other 1.0", TESSERA_VERSION, nullptr};)");
  const Outcome outcome = run_tessera({"build", "good.cpp"}, folder.path(), {{"CXX", TESSERA_TEST_COMPILER}});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("good.so was built for"), HasSubstr("unset it, or set it to")));
}

TEST(BuildCommandTest, RefusesASourceWithoutATesseract) {
  const TempFolder folder;
  folder.write("empty.cpp", "");
  const Outcome outcome = run_tessera({"build", "empty.cpp"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("TESSERA_MODULE"));
}

}  // namespace
}  // namespace tessera::testing
