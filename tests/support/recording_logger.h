// A logger that keeps what it is given, and fails the test for a warning or an error that nobody expected.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/log.h"
#include "tessera/base/mutex.h"

namespace tessera::testing {

/// Safe to call from any thread.
class RecordingLogger final : public Logger {
 public:
  struct Line {
    LogLevel level;
    std::string message;
    /// `key=value` for each field, numbers as std::to_string writes them.
    std::vector<std::string> fields;
  };

  ~RecordingLogger() override {
    for (const Line& line : lines()) {
      if (line.level >= LogLevel::kWarning && !is_expected(line)) {
        ADD_FAILURE() << "unexpected line in the log: " << text_of(line);
      }
    }
  }

  [[nodiscard]] bool is_on(LogLevel /*level*/) const override { return true; }

  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) override {
    Line line{level, std::string(message), {}};
    for (const LogField& field : fields) {
      line.fields.push_back(std::string(field.key) + "=" + std::visit(ValueText(), field.value));
    }
    const MutexLock lock(mutex_);
    lines_.push_back(std::move(line));
  }

  /// Declares that warnings and errors whose text holds `part` are part of the test.
  void expect(std::string part) {
    const MutexLock lock(mutex_);
    expected_.push_back(std::move(part));
  }

  /// What was logged so far.
  [[nodiscard]] std::vector<Line> lines() const {
    const MutexLock lock(mutex_);
    return lines_;
  }

  /// Whether a line holds `part` in its message or its fields.
  [[nodiscard]] bool has(std::string_view part) const {
    const std::vector<Line> all = lines();
    return std::ranges::any_of(all, [part](const Line& line) { return text_of(line).find(part) != std::string::npos; });
  }

 private:
  struct ValueText {
    std::string operator()(std::string_view text) const { return std::string(text); }
    std::string operator()(std::int64_t number) const { return std::to_string(number); }
    std::string operator()(double number) const { return std::to_string(number); }
  };

  static std::string text_of(const Line& line) {
    std::string text = line.message;
    for (const std::string& field : line.fields) {
      text += ' ' + field;
    }
    return text;
  }

  [[nodiscard]] bool is_expected(const Line& line) const {
    const std::string text = text_of(line);
    const MutexLock lock(mutex_);
    return std::ranges::any_of(expected_,
                               [&text](const std::string& part) { return text.find(part) != std::string::npos; });
  }

  mutable Mutex mutex_;
  std::vector<Line> lines_ TESSERA_GUARDED_BY(mutex_);
  std::vector<std::string> expected_ TESSERA_GUARDED_BY(mutex_);
};

}  // namespace tessera::testing
