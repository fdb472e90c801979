#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "program.h"
#include "support/temp_folder.h"

namespace tessera::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kHost = "127.0.0.1";

class ServeCommandTest : public ::testing::Test {
 protected:
  // Keeps the log apart from what a server writes into its folder.
  [[nodiscard]] std::filesystem::path place(const std::string& name) const {
    std::filesystem::create_directories(folder.path() / name);
    return folder.path() / name;
  }

  TempFolder folder;
};

int status_of(std::uint16_t port, const std::string& path) {
  httplib::Client client(kHost, port);
  const auto answer = client.Get(path);
  return answer ? answer->status : 0;
}

TEST_F(ServeCommandTest, ServesUntilItIsTold) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    ServerProcess server({"vectoradd", "--port", "0"}, place("server"));
    EXPECT_EQ(status_of(server.port(), "/health"), 200);
    EXPECT_EQ(status_of(server.port(), "/vectoradd/health"), 200);
    EXPECT_EQ(server.stop(signal), 0) << server.log();
    EXPECT_THAT(server.log(), HasSubstr(std::string("stopping  reason=SIG") + ::sigabbrev_np(signal)));
  }
}

// Programs that an endpoint starts inherit what is blocked and what is ignored.
TEST_F(ServeCommandTest, NeitherBlocksNorIgnoresSignals) {
  const ServerProcess server({"vectoradd", "--port", "0"}, place("server"));
  EXPECT_EQ(status_of(server.port(), "/health"), 200);
  std::uint64_t all = 0;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE, SIGXFSZ}) {
    all |= std::uint64_t{1} << (signal - 1);
  }
  int threads = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/" + std::to_string(server.process()) + "/task")) {
    std::ifstream status(task.path() / "status");
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("SigIgn:")) {
        EXPECT_EQ(std::stoull(line.substr(7), nullptr, 16) & all, 0U) << line;
      }
      if (line.starts_with("SigBlk:")) {
        threads += (std::stoull(line.substr(7), nullptr, 16) & all) == 0 ? 1 : 0;
      }
    }
  }
  // The main one and those that run calls; another takes no signal at all.
  EXPECT_GE(threads, 4);
}

TEST_F(ServeCommandTest, OutlivesFilesThatMayNotGrow) {
  ::rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const ::rlimit limit{.rlim_cur = 65536, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::filesystem::path of_server = place("server");
  const ServerProcess server({"identity", "--port", "0"}, of_server);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  std::string numbers = "0";
  for (int i = 0; i < 100'000; ++i) {
    numbers += ",0";
  }
  httplib::Client client(kHost, server.port());
  const auto answer = client.Post("/apply", {{"Accept", "application/json+binref"}},
                                  R"({"inputs":{"x":[)" + numbers + "]}}", "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 500);
  EXPECT_EQ(status_of(server.port(), "/health"), 200);
}

TEST_F(ServeCommandTest, EndsThoughAnEndpointDoesNotReturn) {
  ServerProcess server({"failing", "--port", "0", "--stop-time", "0", "--num-workers", "2"}, place("server"));
  std::thread caller([port = server.port()] {
    httplib::Client client(kHost, port);
    EXPECT_FALSE(client.Post("/apply", R"({"inputs":{"sleep_s":60,"log_error":["begun"]}})", "application/json"));
  });
  EXPECT_TRUE(server.wait_for_log("begun")) << server.log();
  EXPECT_EQ(server.stop(), 0);
  caller.join();
}

TEST_F(ServeCommandTest, EndsWellThoughAModulePrintsWhereNothingCanBeWritten) {
  // With several workers, what a module prints goes to standard output.
  ServerProcess server({"failing", "--port", "0", "--num-workers", "2"}, place("server"), {}, 0, "/dev/full");
  httplib::Client client(kHost, server.port());
  const auto answer = client.Post("/apply", R"({"inputs":{"log":["a line"]}})", "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(server.stop(), 0) << server.log();
  EXPECT_THAT(server.log(), ::testing::Not(HasSubstr("cannot write")));
}

TEST_F(ServeCommandTest, ServesSeveralUnderTheirNames) {
  const ServerProcess server({"vectoradd", "identity", "--port", "0"}, place("server"));
  EXPECT_EQ(status_of(server.port(), "/vectoradd/openapi.json"), 200);
  EXPECT_EQ(status_of(server.port(), "/identity/openapi.json"), 200);
  EXPECT_EQ(status_of(server.port(), "/openapi.json"), 404);
}

TEST_F(ServeCommandTest, RefusesOneNameForSeveral) {
  for (const char* variable : {"TESSERACT_NAME", "TESSERACT_RUNTIME_VERSION", "TESSERACT_DESCRIPTION"}) {
    ServerProcess server({"vectoradd", "identity", "--port", "0"}, place("server"), {{variable, "x"}});
    EXPECT_EQ(server.wait(), 1) << server.log();
  }
}

TEST_F(ServeCommandTest, DoesNotMoveFromAPortThatIsTaken) {
  const ServerProcess first({"vectoradd", "--port", "0"}, place("first"));
  ServerProcess second({"vectoradd", "--port", std::to_string(first.port())}, place("second"));
  EXPECT_EQ(second.wait(), 3);
  EXPECT_THAT(second.log(), HasSubstr("address already in use"));
}

TEST_F(ServeCommandTest, TellsALackOfDescriptorsFromAPortThatIsTaken) {
  // Each time it gets one step further, until it listens.
  bool does_listen = false;
  int failures = 0;
  for (int most = 8; !does_listen && most < 64; ++most) {
    ServerProcess server({"vectoradd", "--port", "0"}, place("server"), {}, most);
    does_listen = server.log().find("listening") != std::string::npos;
    if (!does_listen) {
      EXPECT_EQ(server.wait(), 1) << server.log();
      ++failures;
    }
  }
  EXPECT_TRUE(does_listen);
  EXPECT_GT(failures, 0);
}

TEST_F(ServeCommandTest, TakesTheNextFreePortOfARange) {
  const ServerProcess first({"vectoradd", "--port", "0"}, place("first"));
  const unsigned taken = first.port();
  const std::string range = std::to_string(taken) + "-" + std::to_string(std::min(taken + 20, 65535U));
  const ServerProcess second({"vectoradd", "--port", range}, place("second"));
  EXPECT_GT(second.port(), taken) << second.log();
  EXPECT_EQ(status_of(second.port(), "/health"), 200);
}

TEST_F(ServeCommandTest, TakesItsPortFromTheEnvironment) {
  const ServerProcess server({"vectoradd"}, place("server"), {{"TESSERACT_RUNTIME_SERVE_PORT", "0"}});
  EXPECT_EQ(status_of(server.port(), "/health"), 200);
}

TEST_F(ServeCommandTest, BlamesTheVariableForABadVariable) {
  for (const auto& [name, value] : Environment{{"TESSERACT_RUNTIME_SERVE_PORT", "abc"},
                                               {"TESSERACT_RUNTIME_SERVE_NUM_WORKERS", "0"},
                                               {"TESSERACT_RUNTIME_SERVE_HOST", "no host at all"}}) {
    const Outcome outcome = run_tessera({"serve", "vectoradd"}, folder.path(), {{name, value}});
    EXPECT_EQ(outcome.exit_code, 1) << name;
    EXPECT_THAT(outcome.error, HasSubstr(value));
  }
}

TEST_F(ServeCommandTest, PrefersFlagsToVariables) {
  const ServerProcess server({"vectoradd", "--port", "0", "--num-workers", "2"}, place("server"),
                             {{"TESSERACT_RUNTIME_SERVE_PORT", "abc"}, {"TESSERACT_RUNTIME_SERVE_NUM_WORKERS", "0"}});
  EXPECT_EQ(status_of(server.port(), "/health"), 200);
}

TEST_F(ServeCommandTest, ListensOnAUnixSocketOfItsUser) {
  const std::filesystem::path socket = folder.path() / "tessera.sock";
  ServerProcess server({"vectoradd", "--unix", socket.string(), "--no-tcp"}, place("server"));
  struct stat status{};
  ASSERT_EQ(::stat(socket.c_str(), &status), 0) << server.log();
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  EXPECT_EQ(server.stop(), 0);
}

TEST_F(ServeCommandTest, EndsWithItsParent) {
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe(pipe.data()), 0);
  ::fcntl(pipe[1], F_SETFD, FD_CLOEXEC);
  ServerProcess server({"vectoradd", "--port", "0", "--parent-pipe-fd", std::to_string(pipe[0])}, place("server"));
  EXPECT_EQ(status_of(server.port(), "/health"), 200);
  ::close(pipe[0]);
  ::close(pipe[1]);
  EXPECT_EQ(server.wait(), 0) << server.log();
}

TEST_F(ServeCommandTest, RefusesWhatIsNoPort) {
  for (const char* port : {"eight", "70000", "9-8", "-1", "8000-"}) {
    EXPECT_EQ(run_tessera({"serve", "vectoradd", "--port", port}, folder.path()).exit_code, 2) << port;
  }
}

TEST_F(ServeCommandTest, RefusesWhatIsNoAge) {
  EXPECT_EQ(run_tessera({"serve", "vectoradd", "--keep-runs", "long"}, folder.path()).exit_code, 2);
}

TEST_F(ServeCommandTest, NamesATesseractThatNobodyHas) {
  const Outcome outcome = run_tessera({"serve", "nobody"}, folder.path());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.error, HasSubstr("'nobody'"));
}

TEST_F(ServeCommandTest, RefusesNumbersThatMakeNoSense) {
  for (const char* option : {"--max-body-bytes", "--max-bodies-bytes", "--max-headers", "--max-array-bytes",
                             "--max-connections", "--num-workers"}) {
    for (const char* number : {"-1", "0", "1e3", "99999999999999999999"}) {
      const Outcome outcome = run_tessera({"serve", "vectoradd", "--port", "0", option, number}, folder.path());
      EXPECT_EQ(outcome.exit_code, 2) << option << ' ' << number;
      EXPECT_THAT(outcome.error, HasSubstr(option));
    }
  }
  for (const char* option : {"--max-waiting-calls", "--stop-time", "--min-body-rate"}) {
    const Outcome outcome = run_tessera({"serve", "vectoradd", "--port", "0", option, "-1"}, folder.path());
    EXPECT_EQ(outcome.exit_code, 2) << option;
  }
}

TEST_F(ServeCommandTest, SaysWhereEachTesseractIs) {
  ServerProcess server({"vectoradd", "failing", "--port", "0"}, place("server"));
  ASSERT_TRUE(server.wait_for_log("name=failing")) << server.log();
  const std::string root = "http://127.0.0.1:" + std::to_string(server.port());
  EXPECT_THAT(server.log(),
              HasSubstr("serving  name=vectoradd url=" + root + "/vectoradd docs=" + root + "/vectoradd/docs"));
  EXPECT_THAT(server.log(), HasSubstr("serving  name=failing url=" + root + "/failing"));
}

TEST_F(ServeCommandTest, DoesNotSayStoppedWhenItCouldNotStart) {
  const ServerProcess first({"vectoradd", "--port", "0"}, place("first"));
  const Outcome outcome = run_tessera({"serve", "vectoradd", "--port", std::to_string(first.port())}, place("second"));
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.error, ::testing::Not(HasSubstr("stopped")));
}

TEST_F(ServeCommandTest, MakesDoWithFewDescriptors) {
  ServerProcess server({"vectoradd", "--port", "0"}, place("server"), {}, 128);
  EXPECT_THAT(server.log(), HasSubstr("descriptors do not suffice for so many connections"));
  // Silent ones take all the connections there may be, and calls still find descriptors for their files.
  std::vector<std::unique_ptr<httplib::Client>> clients;
  for (int i = 0; i < 40; ++i) {
    clients.push_back(std::make_unique<httplib::Client>(kHost, server.port()));
    clients.back()->set_keep_alive(true);
    (void)clients.back()->Get("/health");
  }
  const auto answer =
      clients.front()->Post("/apply?run_id=1", R"({"inputs":{"a":[1.0],"b":[2.0]}})", "application/json");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, 200) << server.log();
}

}  // namespace
}  // namespace tessera::testing
