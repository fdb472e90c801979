#include "tessera/base/log.h"

#include <fcntl.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <utility>

#include "tessera/base/clock.h"
#include "tessera/base/mutex.h"
#include "tessera/base/patient_write.h"
#include "tessera/base/unique_fd.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::string_view name_of(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "debug";
    case LogLevel::kInfo:
      return "info";
    case LogLevel::kWarning:
      return "warning";
    case LogLevel::kError:
      return "error";
  }
  return "error";
}

void append_time(std::string& line, Clock::WallTime time) {
  const auto milliseconds = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto day = std::chrono::floor<std::chrono::days>(milliseconds);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(milliseconds - day);
  std::array<char, 64> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                    static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                    static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                    static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  line.append(text.data(), static_cast<std::size_t>(length));
}

template <class Number>
void append_number(std::string& line, Number number) {
  std::array<char, 32> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  line.append(text.data(), end);
}

// A value is cut here: nobody reads on, and one exception must not fill the disk.
constexpr std::size_t kMaxValueBytes = std::size_t{16} << 10;

// What is shown of a text: its beginning up to a whole character, and how much was cut.
std::string shown_part(std::string_view text) {
  if (text.size() <= kMaxValueBytes) {
    return replaced_utf8(text);
  }
  const std::string_view part = cut_utf8(text, kMaxValueBytes);
  return replaced_utf8(part) + "… (" + std::to_string(text.size() - part.size()) + " bytes more)";
}

// A text in double quotes, on one line, as JSON wants it. Bytes that are not UTF-8 are replaced.
void append_quoted(std::string& line, std::string_view text) {
  line += '"';
  for (const char character : shown_part(text)) {
    const auto byte = static_cast<unsigned char>(character);
    if (character == '"' || character == '\\') {
      line += '\\';
      line += character;
    } else if (character == '\n') {
      line += "\\n";
    } else if (byte < 0x20U || byte == 0x7FU) {
      line += "\\u00";
      line += kHexDigits[byte >> 4U];
      line += kHexDigits[byte & 0x0FU];
    } else {
      line += character;
    }
  }
  line += '"';
}

bool is_plain(std::string_view text) {
  for (const char character : text) {
    const auto byte = static_cast<unsigned char>(character);
    if (byte <= 0x20U || byte >= 0x7FU || character == '"' || character == '=' || character == '\\') {
      return false;
    }
  }
  return !text.empty();
}

void append_value(std::string& line, const LogField& field, LogStyle style) {
  if (const auto* const text = std::get_if<std::string_view>(&field.value)) {
    if (style == LogStyle::kText && text->size() <= kMaxValueBytes && is_plain(*text)) {
      line += *text;
    } else {
      append_quoted(line, *text);
    }
  } else if (const auto* const integer = std::get_if<std::int64_t>(&field.value)) {
    append_number(line, *integer);
  } else if (const double number = std::get<double>(field.value); std::isfinite(number) || style == LogStyle::kText) {
    append_number(line, number);
  } else {
    line += "null";
  }
}

// A sentence goes as it is, but never on two lines.
void append_message(std::string& line, std::string_view message) {
  for (const char character : shown_part(message)) {
    const auto byte = static_cast<unsigned char>(character);
    line += byte < 0x20U || byte == 0x7FU ? ' ' : character;
  }
}

// Writes whole lines, one at a time. A pipe whose reader does not read is waited for once, and its lines are lost from
// then on, until there is room again: a daemon does not stand still for its log.
class LineWriter {
 public:
  explicit LineWriter(UniqueFd descriptor) : descriptor_(std::move(descriptor)) {}

  /// Returns how many lines were lost before this one, if that has not been told; 0 if this one is lost, too.
  std::uint64_t write(std::string_view line) {
    const MutexLock lock(mutex_);
    if ((is_within_line_ && !put("\n")) || !put(line)) {
      ++lost_lines_;
      return 0;
    }
    return std::exchange(lost_lines_, 0);
  }

 private:
  bool put(std::string_view text) TESSERA_REQUIRES(mutex_) {
    constexpr std::chrono::milliseconds kPatience{1000};
    while (!text.empty()) {
      const ssize_t count =
          write_patiently(descriptor_.value(), text, is_stuck_ ? std::chrono::milliseconds(0) : kPatience);
      is_stuck_ = count == 0;
      if (count <= 0) {
        return false;
      }
      text.remove_prefix(static_cast<std::size_t>(count));
      is_within_line_ = !text.empty();
    }
    return true;
  }

  UniqueFd descriptor_;
  Mutex mutex_;
  bool is_stuck_ TESSERA_GUARDED_BY(mutex_) = false;
  bool is_within_line_ TESSERA_GUARDED_BY(mutex_) = false;  // one that was cut
  std::uint64_t lost_lines_ TESSERA_GUARDED_BY(mutex_) = 0;
};

class DescriptorLogger final : public Logger {
 public:
  DescriptorLogger(UniqueFd descriptor, LogLevel lowest, LogStyle style, const Clock& clock)
      : writer_(std::move(descriptor)), lowest_(lowest), style_(style), clock_(clock) {}

  [[nodiscard]] bool is_on(LogLevel level) const override { return level >= lowest_; }

  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) override {
    if (!is_on(level)) {
      return;
    }
    try {
      const std::string line =
          style_ == LogStyle::kJson ? json_line(level, message, fields) : text_line(level, message, fields);
      if (const std::uint64_t lost_lines = writer_.write(line); lost_lines > 0) {
        warning("lines of the log are lost, they could not be written", {{"lines", std::int64_t(lost_lines)}});
      }
    } catch (const std::exception&) {
      // Out of memory: the line is lost, the daemon is not.
      return;
    }
  }

 private:
  [[nodiscard]] std::string text_line(LogLevel level, std::string_view message,
                                      std::initializer_list<LogField> fields) const {
    constexpr std::size_t kLevelWidth = 7;
    std::string line;
    append_time(line, clock_.wall_now());
    line += ' ';
    line += name_of(level);
    line.append(kLevelWidth - name_of(level).size() + 1, ' ');
    append_message(line, message);
    std::string_view separator = "  ";
    for (const LogField& field : fields) {
      line += separator;
      line += field.key;
      line += '=';
      append_value(line, field, LogStyle::kText);
      separator = " ";
    }
    line += '\n';
    return line;
  }

  [[nodiscard]] std::string json_line(LogLevel level, std::string_view message,
                                      std::initializer_list<LogField> fields) const {
    std::string line = R"({"time":")";
    append_time(line, clock_.wall_now());
    line += R"(","level":")";
    line += name_of(level);
    line += R"(","message":)";
    append_quoted(line, message);
    for (const LogField& field : fields) {
      line += ',';
      append_quoted(line, field.key);
      line += ':';
      append_value(line, field, LogStyle::kJson);
    }
    line += "}\n";
    return line;
  }

  LineWriter writer_;
  LogLevel lowest_;
  LogStyle style_;
  const Clock& clock_;
};

}  // namespace

std::unique_ptr<Logger> make_descriptor_logger(int descriptor, LogLevel lowest, LogStyle style, const Clock& clock) {
  UniqueFd duplicate = UniqueFd::adopt(::fcntl(descriptor, F_DUPFD_CLOEXEC, 3));
  if (!duplicate.is_open()) {
    return std::make_unique<SilentLogger>();
  }
  return std::make_unique<DescriptorLogger>(std::move(duplicate), lowest, style, clock);
}

}  // namespace tessera
