#include "tessera/daemon/output_capture.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <thread>

#include "support/manual_clock.h"
#include "support/temp_folder.h"
#include "tessera/base/unique_fd.h"

namespace tessera {
namespace {

using Target = OutputCapture::Target;

void write_raw(int descriptor, const std::string& text) {
  EXPECT_EQ(::write(descriptor, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

// Test fixtures have a member of the name Run.
using RunPtr = std::unique_ptr<Run>;

/// Stands for a full disk: no file may grow beyond this.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    EXPECT_EQ(::getrlimit(RLIMIT_FSIZE, &before_), 0);
    const ::rlimit limit{.rlim_cur = bytes, .rlim_max = before_.rlim_max};
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    EXPECT_EQ(::setrlimit(RLIMIT_FSIZE, &before_), 0);
    EXPECT_NE(std::signal(SIGXFSZ, handler_), SIG_ERR);
  }

 private:
  ::rlimit before_{};
  void (*handler_)(int);
};

/// A file in the place of descriptor 1 or 2.
class DescriptorFile {
 public:
  explicit DescriptorFile(int descriptor) : descriptor_(descriptor), before_(UniqueFd::adopt(::dup(descriptor))) {
    const UniqueFd file = UniqueFd::adopt(::open((folder_.path() / "file").c_str(), O_CREAT | O_WRONLY, 0600));
    EXPECT_EQ(::dup2(file.value(), descriptor_), descriptor_);
  }
  DescriptorFile(const DescriptorFile&) = delete;
  DescriptorFile& operator=(const DescriptorFile&) = delete;
  ~DescriptorFile() { give_back(); }

  /// Makes the descriptor what it was before, so that a failure can be read.
  void give_back() {
    if (before_.is_open()) {
      EXPECT_EQ(::dup2(before_.value(), descriptor_), descriptor_);
      before_ = UniqueFd();
    }
  }
  [[nodiscard]] std::string text() const { return folder_.read("file"); }

 private:
  int descriptor_;
  UniqueFd before_;
  testing::TempFolder folder_;
};

class OutputCaptureTest : public ::testing::Test {
 protected:
  static constexpr const char* kLog = "run_1/logs/tesseract.log";

  RunPtr make_run(const std::string& folder = "run_1") { return tessera::Run::make(output_, folder, clock_); }

  std::unique_ptr<OutputCapture> start(tessera::Run& run, Target target = Target::kRunLog) {
    Result<std::unique_ptr<OutputCapture>> capture = standard_output_.capture(run, target);
    EXPECT_TRUE(capture.has_value());
    return std::move(capture).value();
  }

  StandardOutput standard_output_ = *StandardOutput::keep();
  testing::TempFolder folder_;
  testing::ManualClock clock_;
  ConfinedFolder output_ = *ConfinedFolder::open(folder_.path());
};

TEST_F(OutputCaptureTest, TakesStreamsStdioAndDescriptorsInOrder) {
  const RunPtr run = make_run();
  ASSERT_TRUE(run->make_folder());
  {
    const auto capture = start(*run);
    std::cout << "stream\n";
    std::printf("stdio\n");
    write_raw(STDOUT_FILENO, "descriptor\n");
    std::cerr << "error\n";
    run->log("context");
    std::cout << "cut off";
  }
  EXPECT_EQ(folder_.read(kLog), "stream\nstdio\ndescriptor\nerror\ncontext\ncut off");
}

TEST_F(OutputCaptureTest, LinesAreInTheLogAsTheyArePrinted) {
  const RunPtr run = make_run();
  ASSERT_TRUE(run->make_folder());
  const auto capture = start(*run);
  std::cout << "early\n";
  EXPECT_EQ(folder_.read(kLog), "early\n");
}

TEST_F(OutputCaptureTest, MakesNoFolderForACallThatPrintsNothing) {
  const RunPtr run = make_run();
  start(*run).reset();
  EXPECT_FALSE(run->has_folder());
}

TEST_F(OutputCaptureTest, MakesTheFolderForACallThatPrints) {
  for (const char* name : {"run_1", "run_2"}) {
    const RunPtr run = make_run(name);
    const auto capture = start(*run);
    std::cout << "from " << name << '\n';
  }
  EXPECT_EQ(folder_.read("run_1/logs/tesseract.log"), "from run_1\n");
  EXPECT_EQ(folder_.read("run_2/logs/tesseract.log"), "from run_2\n");
}

TEST_F(OutputCaptureTest, KeepsTheOrderWhenTheFolderIsMadeDuringTheCall) {
  const RunPtr run = make_run();
  {
    const auto capture = start(*run);
    std::cout << "before\n";
    run->log("between");
    std::cout << "after\n";
    EXPECT_EQ(folder_.read(kLog), "before\nbetween\nafter\n");
  }
  EXPECT_EQ(folder_.read(kLog), "before\nbetween\nafter\n");
}

TEST_F(OutputCaptureTest, GivesTheDescriptorsBack) {
  std::cout.flush();
  DescriptorFile terminal(STDOUT_FILENO);
  standard_output_ = *StandardOutput::keep();
  {
    const RunPtr run = make_run();
    const auto capture = start(*run);
    std::cout << "inside\n";
  }
  std::cout << "outside\n" << std::flush;
  terminal.give_back();
  EXPECT_EQ(terminal.text(), "outside\n");
  EXPECT_EQ(folder_.read(kLog), "inside\n");
}

TEST_F(OutputCaptureTest, TakesNothingThatAProgramOfAnEarlierCallPrints) {
  DescriptorFile terminal(STDERR_FILENO);
  standard_output_ = *StandardOutput::keep();
  UniqueFd of_program;
  {
    const RunPtr first = make_run("run_1");
    const auto capture = start(*first);
    of_program = UniqueFd::adopt(::dup(STDOUT_FILENO));
  }
  write_raw(of_program.value(), "late\n");
  const RunPtr second = make_run("run_2");
  {
    const auto capture = start(*second);
    write_raw(of_program.value(), "later\n");
  }
  terminal.give_back();
  EXPECT_FALSE(second->has_folder());
  EXPECT_EQ(terminal.text(), "late\n");
}

TEST_F(OutputCaptureTest, IsRefusedWhileAnotherOneLasts) {
  const RunPtr run = make_run();
  {
    const auto capture = start(*run);
    const auto second = standard_output_.capture(*run, Target::kRunLog);
    ASSERT_FALSE(second.has_value());
    EXPECT_EQ(second.error().code(), ErrorCode::kUnavailable);
  }
  EXPECT_TRUE(standard_output_.capture(*run, Target::kRunLog).has_value());
}

TEST_F(OutputCaptureTest, FailsForALogThatCannotBeMade) {
  folder_.write("run_1", "a file where the folder should be");
  const RunPtr run = make_run();
  EXPECT_FALSE(standard_output_.capture(*run, Target::kRunLogAndError).has_value());
  {
    const auto capture = start(*run);
    std::cout << "lost\n";
  }
  const RunPtr next = make_run("run_2");
  start(*next).reset();
  EXPECT_FALSE(next->has_folder()) << "what was lost came back in another run";
}

TEST_F(OutputCaptureTest, SendsToTheLogAndToWhatWasDescriptorTwo) {
  DescriptorFile terminal(STDERR_FILENO);
  standard_output_ = *StandardOutput::keep();
  const std::string large(300000, 'x');  // more than a pipe holds
  {
    const RunPtr run = make_run();
    const auto capture = start(*run, Target::kRunLogAndError);
    std::cout << "output\n";
    std::cerr << "error\n";
    write_raw(STDOUT_FILENO, large);
  }
  terminal.give_back();
  EXPECT_EQ(folder_.read(kLog), "output\nerror\n" + large);
  EXPECT_EQ(terminal.text(), "output\nerror\n" + large);
}

TEST_F(OutputCaptureTest, DoesNotWaitForAChildThatKeepsThePipe) {
  const RunPtr run = make_run();
  UniqueFd kept;
  {
    const auto capture = start(*run, Target::kRunLogAndError);
    kept = UniqueFd::adopt(::dup(STDOUT_FILENO));
  }
  EXPECT_TRUE(kept.is_open());
}

TEST_F(OutputCaptureTest, SaysIfOutputIsLost) {
  for (const bool has_folder : {true, false}) {
    const RunPtr run = make_run(has_folder ? "run_1" : "run_2");
    if (has_folder) {
      ASSERT_TRUE(run->make_folder());
    }
    const FileSizeLimit limit(1000);
    const auto capture = start(*run);
    std::printf("%s\n", std::string(100000, 'x').c_str());
    const Status ended = capture->end();
    ASSERT_FALSE(ended.has_value());
    EXPECT_NE(ended.error().message().find(run->log_path().string()), std::string::npos) << ended.error().message();
    EXPECT_TRUE(capture->end().has_value());
  }
}

}  // namespace
}  // namespace tessera
