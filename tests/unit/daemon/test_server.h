// The HTTP server over a service made for tests.
#pragma once

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "http_server.h"
#include "raw_connection.h"
#include "service.h"

namespace tessera {

/// Holds calls until it is opened.
class Gate {
 public:
  /// Returns whether it was opened within ten seconds.
  bool pass();
  void open();
  /// Waits until so many have come to it. Returns whether they did within ten seconds.
  bool wait_for_arrivals(int count);

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int arrivals_ = 0;
  bool is_open_ = false;
};

/// A report that outlives its request.
struct OwnedReport {
  explicit OwnedReport(const RequestReport& report)
      : id(report.id),
        method(report.method),
        target(report.target),
        peer(report.peer),
        status(report.status),
        is_sent(report.is_sent),
        received_bytes(report.received_bytes),
        sent_bytes(report.sent_bytes),
        times(report.times),
        limit(report.limit) {}

  std::string id;
  std::string method;
  std::string target;
  std::string peer;
  int status;
  bool is_sent;
  std::uint64_t received_bytes;
  std::uint64_t sent_bytes;
  RequestTimes times;
  Limit limit;
};

/// GET /health; POST /echo (its body), /load (of the server), /headers (what the service sees), /wait (passes the
/// gate), /wait_early (passes it in begin), /large?N (N bytes), /throw (begin throws), /throw_late (run throws).
/// Anything else is 404, without its body being read.
class TestService final : public Service {
 public:
  [[nodiscard]] std::optional<Response> refuse_unread(const Request& head) override;
  [[nodiscard]] std::variant<Response, std::unique_ptr<PendingCall>> begin(const Request& request) override;
  void answering(const RequestReport& /*report*/) override { ++answers; }
  void request_over(const RequestReport& report) override;
  [[nodiscard]] LimitCounters& limits() override { return limits_; }
  [[nodiscard]] std::uint64_t limits_hit(Limit limit) const { return limits_.count(limit); }
  bool remove_old_runs() override { return ++removals <= removals_with_more; }

  /// What was reported of requests that are over, once so many are; fewer if they are not within ten seconds.
  [[nodiscard]] std::vector<OwnedReport> reports(std::size_t count) const;
  /// Waits until so many requests were begun. Returns whether they were within ten seconds.
  [[nodiscard]] bool wait_for_begun(int count) const;

  Gate gate;
  std::atomic<int> begun{0};
  std::atomic<int> running{0};
  std::atomic<int> most_running{0};
  std::atomic<int> finished{0};
  std::atomic<int> large_answers{0};
  std::atomic<int> answers{0};
  std::atomic<int> removals{0};
  std::atomic<int> removals_with_more{0};

 private:
  mutable std::mutex mutex_;
  mutable std::condition_variable reported_;
  std::vector<OwnedReport> reports_;
  LimitCounters limits_;
};

/// Counts what is logged as lost, and remembers it.
class CountingLogger final : public Logger {
 public:
  [[nodiscard]] bool is_on(LogLevel level) const override { return level >= LogLevel::kWarning; }
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) override;
  /// The lines that hold a text; fields are shown as `key=value`, texts only.
  [[nodiscard]] std::vector<std::string> lines_with(std::string_view text) const;

  std::atomic<int> warnings{0};
  std::atomic<int> errors{0};

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

/// A server on a port that the system chose. The service outlives the server.
struct TestServer {
  explicit TestServer(DaemonOptions options = {});

  [[nodiscard]] RawConnection connect() const { return RawConnection::to_port(server->port()); }

  SystemClock clock;
  CountingLogger logger;
  TestService service;
  std::unique_ptr<HttpServer> server;
};

}  // namespace tessera
