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

/// GET /health; POST /echo (its body), /headers (what the service sees), /wait (passes the gate), /large?N (N bytes),
/// /throw (begin throws), /throw_late (run throws). Anything else is 404, without its body being read.
class TestService final : public Service {
 public:
  [[nodiscard]] std::optional<Response> refuse_unread(const Request& head) override;
  [[nodiscard]] std::variant<Response, std::unique_ptr<PendingCall>> begin(const Request& request) override;
  void count_refusal(int status) override;
  bool remove_old_runs() override { return ++removals <= removals_with_more; }

  [[nodiscard]] std::vector<int> refusals() const;
  /// Waits until so many requests were begun. Returns whether they were within ten seconds.
  [[nodiscard]] bool wait_for_begun(int count) const;

  Gate gate;
  std::atomic<int> begun{0};
  std::atomic<int> running{0};
  std::atomic<int> most_running{0};
  std::atomic<int> finished{0};
  std::atomic<int> removals{0};
  std::atomic<int> removals_with_more{0};

 private:
  mutable std::mutex mutex_;
  std::vector<int> refusals_;
};

/// Counts what is logged as lost.
class CountingLogger final : public Logger {
 public:
  [[nodiscard]] bool is_on(LogLevel level) const override { return level >= LogLevel::kWarning; }
  void write(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) override;

  std::atomic<int> warnings{0};
  std::atomic<int> errors{0};
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
