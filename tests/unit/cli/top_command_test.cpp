// `tessera top` against a server, in a terminal and in none.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <httplib.h>
#include <poll.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>

#include "program.h"
#include "support/temp_folder.h"
#include "tessera/base/unique_fd.h"

namespace tessera::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class TopCommandTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder = new TempFolder;
    server = new ServerProcess({"identity", "vectoradd", "--port", "0", "--unix", (folder->path() / "s").string()},
                               folder->path());
    httplib::Client client("127.0.0.1", server->port());
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(client.Post("/identity/apply", R"({"inputs":{"x":[1.0,2.0]}})", "application/json")->status, 200);
    }
  }
  static void TearDownTestSuite() {
    delete server;
    delete folder;
  }

  static std::string url() { return "http://127.0.0.1:" + std::to_string(server->port()); }
  static Outcome run(const Words& words) { return run_tessera(words, folder->path()); }

  static TempFolder* folder;
  static ServerProcess* server;
};

TempFolder* TopCommandTest::folder = nullptr;
ServerProcess* TopCommandTest::server = nullptr;

TEST_F(TopCommandTest, PrintsOneReport) {
  const Outcome outcome = run({"top", url(), "--once", "--interval", "0.1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, StartsWith(url() + "  tessera "));
  EXPECT_THAT(outcome.output, AllOf(HasSubstr("rates and times of the last 0.1 s"), HasSubstr("identity/apply"),
                                    HasSubstr("workers 0 of 1 busy"), HasSubstr("limits hit since its start: none"),
                                    Not(HasSubstr("\x1b"))));
  EXPECT_EQ(outcome.error, "");
}

TEST_F(TopCommandTest, PrintsJsonThroughAUnixSocket) {
  const Outcome outcome =
      run({"top", "unix:" + (folder->path() / "s").string(), "--once", "--json", "--interval", "0.1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  const auto document = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(document["workers"], 1);
  EXPECT_FALSE(document["since_start"]);
  EXPECT_EQ(document["parts"]["compute"]["p50_seconds"], nullptr);  // nobody called meanwhile
}

TEST_F(TopCommandTest, LeavesOutTheNameOfATesseract) {
  const Outcome outcome = run({"top", url() + "/identity/", "--once", "--interval", "0.1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  EXPECT_THAT(outcome.output, StartsWith(url() + "  tessera "));
}

TEST_F(TopCommandTest, PrintsAReportAfterTheOtherWhereThereIsNoTerminal) {
  const Outcome outcome = run_script(": > reports; $TESSERA top " + url() +
                                         " --json --interval 0.05 > reports & top=$!\n"
                                         "while [ \"$(wc -l < reports)\" -lt 3 ]; do sleep 0.02; done\n"
                                         "kill -TERM $top; wait $top",
                                     folder->path());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.error;
  std::istringstream lines(folder->read("reports"));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto first = nlohmann::json::parse(line);
  EXPECT_TRUE(first["since_start"]);
  EXPECT_GT(first["parts"]["compute"]["p50_seconds"], 0.0);
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_FALSE(nlohmann::json::parse(line)["since_start"]);
}

TEST_F(TopCommandTest, GivesTheTerminalBackOnCtrlC) {
  int terminal = -1;
  const std::string address = url();
  const pid_t process = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (process == 0) {
    ::execl(TESSERA_PROGRAM, TESSERA_PROGRAM, "top", address.c_str(), "--interval", "0.05", nullptr);
    ::_exit(127);
  }
  ASSERT_GT(process, 0);
  const UniqueFd owner = UniqueFd::adopt(terminal);
  std::string shown;
  bool has_asked = false;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  std::array<char, 4096> piece{};
  while (std::chrono::steady_clock::now() < deadline) {
    pollfd wish{.fd = terminal, .events = POLLIN, .revents = 0};
    static_cast<void>(::poll(&wish, 1, 100));
    const ssize_t count = wish.revents != 0 ? ::read(terminal, piece.data(), piece.size()) : 0;
    if (count < 0) {
      break;  // the program has ended
    }
    shown.append(piece.data(), static_cast<std::size_t>(count));
    if (!has_asked && shown.find("of the last") != std::string::npos) {
      has_asked = ::write(terminal, "\x03", 1) == 1;
    }
  }
  int status = -1;
  ASSERT_EQ(::waitpid(process, &status, 0), process);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_THAT(shown, StartsWith("\x1b[?1049h\x1b[?25l"));
  EXPECT_THAT(shown, HasSubstr("identity/apply"));
  EXPECT_THAT(shown, ::testing::EndsWith("\x1b[?25h\x1b[?1049l"));
}

TEST_F(TopCommandTest, SaysWhyAServerCannotBeWatched) {
  const Outcome nobody = run({"top", "127.0.0.1:1"});
  EXPECT_EQ(nobody.exit_code, 1);
  EXPECT_THAT(nobody.error, StartsWith("tessera top: cannot connect to http://127.0.0.1:1"));
  EXPECT_EQ(run({"top", "https://x"}).exit_code, 2);
  EXPECT_EQ(run({"top", url(), "--interval", "0"}).exit_code, 2);
  EXPECT_EQ(run({"top"}).exit_code, 2);

  httplib::Server other;
  other.Get("/with/metrics", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("go_goroutines 3\n", "text/plain");
  });
  const int port = other.bind_to_any_port("127.0.0.1");
  std::thread serving([&] { other.listen_after_bind(); });
  const std::string there = "http://127.0.0.1:" + std::to_string(port);
  const Outcome without = run({"top", there + "/a/b"});
  const Outcome with = run({"top", there + "/with"});
  other.stop();
  serving.join();
  EXPECT_EQ(without.exit_code, 1);
  EXPECT_THAT(without.error, HasSubstr(there + "/a/b answers, but it is no tessera: it has no /metrics"));
  EXPECT_EQ(with.exit_code, 1);
  EXPECT_THAT(with.error, HasSubstr("it is no tessera: its /metrics are others"));
}

}  // namespace
}  // namespace tessera::testing
