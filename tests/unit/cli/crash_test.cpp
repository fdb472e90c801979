// Endpoints and modules that take the process down, and what is told of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "program.h"
#include "support/temp_folder.h"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class CrashTest : public ::testing::Test {
 protected:
  /// Calls the crasher in a server of one worker, or of more, and returns what the server wrote; `exit_code` is 128 +
  /// its signal.
  std::string crash_a_server(const std::string& how, int& exit_code, const Words& options = {},
                             const std::string& more = "") {
    Words words = {TESSERA_CRASHER, "--port", "0", "-o", (folder.path() / "out").string()};
    words.insert(words.end(), options.begin(), options.end());
    ServerProcess server(words, folder.path());
    httplib::Client client("127.0.0.1", server.port());
    EXPECT_FALSE(client.Post("/apply?run_id=mine", {{"X-Request-Id", "id-of-the-test"}},
                             R"({"inputs":{"how":")" + how + "\"" + more + "}}", "application/json"));
    exit_code = server.wait();
    return server.log();
  }

  [[nodiscard]] std::string run_folder() const { return (folder.path() / "out/run_mine").string(); }

  TempFolder folder;
};

// A sanitizer ends the process in its own way, and prints its report.
#ifdef TESSERA_SANITIZED
constexpr bool kHasSanitizer = true;
#else
constexpr bool kHasSanitizer = false;
#endif

TEST_F(CrashTest, ASignalIsToldWithTesseractEndpointRequestAndRun) {
  int exit_code = 0;
  EXPECT_THAT(crash_a_server("abort", exit_code), HasSubstr("cause=SIGABRT tesseract=crasher endpoint=apply "
                                                            "id=id-of-the-test run=" +
                                                            run_folder()));
  EXPECT_EQ(exit_code, 128 + SIGABRT);
}

TEST_F(CrashTest, AFaultIsToldAndEndsTheProcessByItsSignal) {
  int exit_code = 0;
  EXPECT_THAT(crash_a_server("segv", exit_code), AllOf(HasSubstr("cause=SIGSEGV"), HasSubstr("tesseract=crasher")));
  if (!kHasSanitizer) {
    EXPECT_EQ(exit_code, 128 + SIGSEGV);
  }
}

TEST_F(CrashTest, AStackWithoutEndIsTold) {
  int exit_code = 0;
  EXPECT_THAT(crash_a_server("overflow", exit_code), AllOf(HasSubstr("cause=SIGSEGV"), HasSubstr("tesseract=crasher")));
}

TEST_F(CrashTest, AnExitIsToldAndKeepsItsCode) {
  int exit_code = 0;
  EXPECT_THAT(crash_a_server("exit", exit_code), AllOf(HasSubstr("cause=exit(3)"), HasSubstr("tesseract=crasher")));
  if (!kHasSanitizer) {
    EXPECT_EQ(exit_code, 3);
  }
}

TEST_F(CrashTest, AnExceptionInAThreadOfTheEndpointIsToldWithItsText) {
  int exit_code = 0;
  EXPECT_THAT(crash_a_server("throw_in_thread", exit_code),
              AllOf(HasSubstr("cause=SIGABRT"), HasSubstr("tesseract=crasher")));
  std::ifstream log(run_folder() + "/logs/tesseract.log");
  EXPECT_THAT(std::string(std::istreambuf_iterator<char>(log), {}), HasSubstr("nobody catches this"));
}

TEST_F(CrashTest, WithSeveralWorkersTheCallsAreTold) {
  int exit_code = 0;
  EXPECT_THAT(crash_a_server("abort", exit_code, {"--num-workers", "3"}), HasSubstr("endpoint=apply"));
}

TEST_F(CrashTest, TheNoticeIsJsonWhereTheLogIs) {
  int exit_code = 0;
  EXPECT_THAT(crash_a_server("abort", exit_code, {"--log-json"}),
              HasSubstr(R"({"level":"error","message":"process ended during a call","cause":"SIGABRT","during":")"
                        "tesseract=crasher endpoint=apply id=id-of-the-test run="));
}

TEST_F(CrashTest, WhatAServedCallPrintedIsShownIfItIsInNoFile) {
  for (const std::string how : {"abort", "exit"}) {
    ServerProcess server({TESSERA_CRASHER, "--port", "0"}, folder.path());
    httplib::Client client("127.0.0.1", server.port());
    EXPECT_FALSE(client.Post("/apply", R"({"inputs":{"how":")" + how + "\"}}", "application/json"));
    server.wait();
    EXPECT_THAT(server.log(), HasSubstr("It had printed:\nprinted before\n")) << how;
  }
}

TEST_F(CrashTest, WhatWasPrintedIsJsonWhereTheLogIs) {
  ServerProcess server({TESSERA_CRASHER, "--port", "0", "--log-json"}, folder.path());
  httplib::Client client("127.0.0.1", server.port());
  EXPECT_FALSE(client.Post("/apply", R"({"inputs":{"how":"abort"}})", "application/json"));
  server.wait();
  EXPECT_THAT(server.log(),
              HasSubstr("\n{\"level\":\"error\",\"message\":\"it had printed\",\"text\":\"printed before\"}\n"));
}

TEST_F(CrashTest, ARunIsToldAndWhatItPrintedIsShown) {
  const Outcome outcome =
      run_tessera({"run", TESSERA_CRASHER, "apply", R"({"inputs":{"how":"abort"}})", "-o", "out"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 128 + SIGABRT);
  EXPECT_THAT(outcome.error,
              AllOf(HasSubstr("printed before"), HasSubstr("cause=SIGABRT tesseract=crasher endpoint=apply"
                                                           " run=" +
                                                           (folder.path() / "out").string())));
  EXPECT_THAT(folder.read("out/logs/tesseract.log"), HasSubstr("printed before"));
}

TEST_F(CrashTest, NothingIsToldOfACallThatReturns) {
  const Outcome outcome =
      run_tessera({"run", TESSERA_CRASHER, "apply", R"({"inputs":{"how":"no"}})", "-o", "out"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.error, Not(HasSubstr("process ended")));
}

TEST_F(CrashTest, AModuleThatEndsTheProcessAsItLoadsIsNamed) {
  ServerProcess server({TESSERA_CRASHER, "--port", "0"}, folder.path(), {{"CRASHER_AT_LOAD", "throw"}});
  EXPECT_EQ(server.wait(), 128 + SIGABRT);
  EXPECT_THAT(server.log(), AllOf(HasSubstr("loading " TESSERA_CRASHER), HasSubstr("not today")));
}

TEST_F(CrashTest, AModuleThatWasCutIsRefusedByItsName) {
  const std::filesystem::path cut = folder.path() / "cut.so";
  std::filesystem::copy_file(TESSERA_CRASHER, cut);
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) / 2);
  const Outcome outcome = run_tessera({"serve", "./cut.so"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, AllOf(HasSubstr("cut.so is cut short"), Not(HasSubstr("SIG"))));
}

TEST_F(CrashTest, ListGoesOnAfterModulesThatDoNotLoad) {
  std::filesystem::copy_file(TESSERA_CRASHER, folder.path() / "a_crasher.so");
  std::filesystem::copy_file(TESSERA_CRASHER, folder.path() / "a_cut.so");
  std::filesystem::resize_file(folder.path() / "a_cut.so", 5000);
  const Outcome outcome =
      run_tessera({"list"}, folder.path(), {{"TESSERA_PATH", folder.path().string()}, {"CRASHER_AT_LOAD", "throw"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("ended the process that loaded it, by the signal Aborted"),
                                    HasSubstr("a_cut.so is cut short"), HasSubstr("Multiplies a by s and adds b.")));
}

TEST_F(CrashTest, ListShowsNothingThatAModulePrints) {
  std::filesystem::copy_file(TESSERA_CRASHER, folder.path() / "crasher.so");
  const Outcome outcome =
      run_tessera({"list"}, folder.path(), {{"TESSERA_PATH", folder.path().string()}, {"CRASHER_AT_LOAD", "print"}});
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("Does not return."), Not(HasSubstr("printed at load"))));
}

TEST_F(CrashTest, ListDoesNotWaitForAModuleForEver) {
  std::filesystem::copy_file(TESSERA_CRASHER, folder.path() / "crasher.so");
  const Outcome outcome =
      run_tessera({"list"}, folder.path(), {{"TESSERA_PATH", folder.path().string()}, {"CRASHER_AT_LOAD", "wait"}});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("is not loaded after"), HasSubstr("Multiplies a by s and adds b.")));
}

}  // namespace
}  // namespace tessera::testing
