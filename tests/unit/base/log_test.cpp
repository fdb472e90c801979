#include "tessera/base/log.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/manual_clock.h"
#include "support/recording_logger.h"
#include "support/temp_folder.h"
#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

class LogTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::unique_ptr<Logger> make(LogLevel lowest, LogStyle style) const {
    const UniqueFd file =
        UniqueFd::adopt(::open((folder_.path() / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    return make_descriptor_logger(file.value(), lowest, style, clock_);
  }
  [[nodiscard]] std::string logged() const { return folder_.read("log"); }

  testing::TempFolder folder_;
  testing::ManualClock clock_;
};

TEST_F(LogTest, WritesTextLine) {
  clock_.advance(std::chrono::milliseconds(61'007));
  make(LogLevel::kInfo, LogStyle::kText)->info("listening", {{"address", "127.0.0.1"}, {"port", 8000}, {"s", 0.5}});
  EXPECT_EQ(logged(), "2026-01-01T00:01:01.007Z info    listening  address=127.0.0.1 port=8000 s=0.5\n");
}

TEST_F(LogTest, WritesJsonLine) {
  make(LogLevel::kInfo, LogStyle::kJson)->warning("slow", {{"name", "a\"b"}, {"bytes", -1}, {"s", 0.5}});
  EXPECT_EQ(logged(),
            "{\"time\":\"2026-01-01T00:00:00.000Z\",\"level\":\"warning\",\"message\":\"slow\",\"name\":\"a\\\"b\","
            "\"bytes\":-1,\"s\":0.5}\n");
}

TEST_F(LogTest, KeepsHostileTextOnOneLine) {
  make(LogLevel::kInfo, LogStyle::kText)->info("two\nlines", {{"path", "a b\n\x1B\xFF"}, {"empty", ""}});
  EXPECT_EQ(logged(), "2026-01-01T00:00:00.000Z info    two lines  path=\"a b\\n\\u001b\xEF\xBF\xBD\" empty=\"\"\n");
}

TEST_F(LogTest, CutsLongValuesAtACharacter) {
  const std::string text = std::string(16383, 'x') + "\u20ac" + std::string(1'000'000, 'y');
  make(LogLevel::kInfo, LogStyle::kText)->info("failed", {{"text", text}});
  EXPECT_EQ(logged(), "2026-01-01T00:00:00.000Z info    failed  text=\"" + std::string(16383, 'x') +
                          "\u2026 (1000003 bytes more)\"\n");
}

TEST_F(LogTest, WritesOnlyUtf8) {
  make(LogLevel::kInfo, LogStyle::kJson)->info("m\xff", {{"k", "\xc3("}});
  EXPECT_EQ(logged(),
            "{\"time\":\"2026-01-01T00:00:00.000Z\",\"level\":\"info\",\"message\":\"m\uFFFD\",\"k\":\"\uFFFD(\"}\n");
}

TEST_F(LogTest, JsonHasNoNan) {
  make(LogLevel::kInfo, LogStyle::kJson)->info("x", {{"s", std::numeric_limits<double>::quiet_NaN()}});
  EXPECT_NE(logged().find("\"s\":null"), std::string::npos);
}

TEST_F(LogTest, DropsLinesBelowItsLevel) {
  const std::unique_ptr<Logger> logger = make(LogLevel::kWarning, LogStyle::kText);
  logger->debug("no");
  logger->info("no");
  logger->error("yes");
  EXPECT_FALSE(logger->is_on(LogLevel::kInfo));
  EXPECT_EQ(logged(), "2026-01-01T00:00:00.000Z error   yes\n");
}

TEST_F(LogTest, LinesOfThreadsDoNotMix) {
  const std::unique_ptr<Logger> logger = make(LogLevel::kInfo, LogStyle::kText);
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&logger] {
        for (int line = 0; line < 100; ++line) {
          logger->info("message", {{"key", "value"}});
        }
      });
    }
  }
  const std::string expected = "2026-01-01T00:00:00.000Z info    message  key=value\n";
  std::string all;
  for (int i = 0; i < 400; ++i) {
    all += expected;
  }
  EXPECT_EQ(logged(), all);
}

TEST_F(LogTest, ClosedDescriptorMakesSilentLogger) {
  const std::unique_ptr<Logger> logger = make_descriptor_logger(-1, LogLevel::kDebug, LogStyle::kText, clock_);
  EXPECT_FALSE(logger->is_on(LogLevel::kError));
}

TEST(RecordingLoggerTest, KeepsLinesWithTheirFields) {
  testing::RecordingLogger logger;
  logger.expect("is full");
  logger.warning("queue is full", {{"length", 5}});
  EXPECT_TRUE(logger.has("length=5"));
  EXPECT_FALSE(logger.has("length=6"));
}

// A pipe, and what its reader got by the end.
class LogPipeTest : public ::testing::Test {
 protected:
  LogPipeTest() {
    std::array<int, 2> ends{};
    EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    reader_ = UniqueFd::adopt(ends[0]);
    writer_ = UniqueFd::adopt(ends[1]);
    logger_ = make_descriptor_logger(writer_.value(), LogLevel::kInfo, LogStyle::kJson, clock_);
  }
  [[nodiscard]] std::string read(std::size_t count) const {
    std::string text(count, '\0');
    const ssize_t got = ::read(reader_.value(), text.data(), text.size());
    text.resize(static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    return text;
  }
  [[nodiscard]] std::string read_to_end() {
    logger_.reset();
    writer_ = UniqueFd();
    std::string text;
    for (std::string piece = read(65536); !piece.empty(); piece = read(65536)) {
      text += piece;
    }
    return text;
  }

  testing::ManualClock clock_;
  UniqueFd reader_;
  UniqueFd writer_;
  std::unique_ptr<Logger> logger_;
};

TEST_F(LogPipeTest, NobodyReadsHoldsNobodyUpAndIsToldLater) {
  const std::string text(16000, 'x');
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 200; ++i) {
    logger_->info("long", {{"text", text}});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  std::string all = read(65536);
  EXPECT_GE(all.size(), 50000U);
  logger_->info("again");
  all += read_to_end();
  EXPECT_NE(all.find("\n{\"time\":\"2026-01-01T00:00:00.000Z\",\"level\":\"info\",\"message\":\"again\"}\n"),
            std::string::npos);
  EXPECT_NE(all.find("\"message\":\"lines of the log are lost, they could not be written\",\"lines\":19"),
            std::string::npos)
      << all.substr(all.size() - 300);
}

TEST_F(LogPipeTest, ReadSlowlyMixesNoLines) {
  constexpr int kThreads = 4;
  constexpr int kLines = 50;
  constexpr std::ptrdiff_t kAllLines = std::ptrdiff_t{kThreads} * kLines;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([this, thread] {
      const std::string text(14000, static_cast<char>('a' + thread));
      for (int i = 0; i < kLines; ++i) {
        logger_->info("long", {{"text", text}});
      }
    });
  }
  std::string all;
  for (std::ptrdiff_t lines = 0; lines < kAllLines;) {
    const std::string piece = read(5000);
    lines += std::ranges::count(piece, '\n');
    all += piece;
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(read_to_end(), "");
  std::istringstream lines(all);
  for (std::string line; std::getline(lines, line);) {
    const char first = line[line.size() - 3];
    EXPECT_TRUE(line.ends_with("\"text\":\"" + std::string(14000, first) + "\"}")) << line.substr(0, 200);
  }
}

}  // namespace
}  // namespace tessera
