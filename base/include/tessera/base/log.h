// Structured log lines: a level, a sentence, key=value fields. Library code is handed a Logger and never prints.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace tessera {

/// By consequence: kError = a request was lost, kWarning = degraded but served, kInfo = lifecycle, kDebug = per
/// request.
enum class LogLevel { kDebug, kInfo, kWarning, kError };

/// One key=value of a log line. Borrows its texts for the duration of the call. They need not be UTF-8: other bytes are
/// shown replaced. Of a text above 16 KiB the beginning is shown, and how much was cut.
struct LogField {
  std::string_view key;
  std::variant<std::string_view, std::int64_t, double> value;
};

/// Takes log lines. Implementations are safe to call from any thread and never throw.
class Logger {
 public:
  Logger() = default;
  Logger(const Logger&) = delete;
  Logger& operator=(const Logger&) = delete;
  virtual ~Logger() = default;

  /// Whether lines of this level go anywhere; ask before making an expensive line.
  [[nodiscard]] virtual bool is_on(LogLevel level) const = 0;
  /// Writes one line; drops it if the level is off. `message` is a sentence without a full stop.
  virtual void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) = 0;

  /// Each writes one line at its level if that is on.
  void debug(std::string_view message, std::initializer_list<LogField> fields = {}) {
    if (is_on(LogLevel::kDebug))
      write(LogLevel::kDebug, message, fields);
  }
  void info(std::string_view message, std::initializer_list<LogField> fields = {}) {
    if (is_on(LogLevel::kInfo))
      write(LogLevel::kInfo, message, fields);
  }
  void warning(std::string_view message, std::initializer_list<LogField> fields = {}) {
    if (is_on(LogLevel::kWarning))
      write(LogLevel::kWarning, message, fields);
  }
  void error(std::string_view message, std::initializer_list<LogField> fields = {}) {
    if (is_on(LogLevel::kError))
      write(LogLevel::kError, message, fields);
  }
};

/// Drops every line.
class SilentLogger final : public Logger {
 public:
  [[nodiscard]] bool is_on(LogLevel /*level*/) const override { return false; }
  void write(LogLevel /*level*/, std::string_view /*message*/, std::initializer_list<LogField> /*fields*/) override {}
};

/// How a descriptor logger writes its lines. Times are UTC, in milliseconds.
enum class LogStyle {
  kText,  ///< `2026-11-29T18:50:14.381Z info    listening  address=127.0.0.1 port=8000`
  kJson,  ///< `{"time":"2026-11-29T18:50:14.381Z","level":"info","message":"listening","address":"127.0.0.1","port":8000}`
};

class Clock;

/// Makes a logger that writes lines of `lowest` and above to a duplicate of `descriptor`, so that it keeps its target
/// when the descriptor is redirected later; `descriptor` stays the caller's. Lines of several threads are not mixed; of
/// several processes, those up to 4 KiB are not. If it cannot be duplicated, the logger drops every line. A line that
/// cannot be written is lost, and so is what a pipe does not take within a second; how many is told once there is room.
/// `clock` outlives the logger.
[[nodiscard]] std::unique_ptr<Logger> make_descriptor_logger(int descriptor, LogLevel lowest, LogStyle style,
                                                             const Clock& clock);

}  // namespace tessera
