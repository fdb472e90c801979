// A connection from its first byte to its end, as the daemon serves it: heads, bodies of both framings, pipelines. What
// comes in pieces is answered like what comes at once.
#include "http_session.h"

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <chrono>
#include <string>
#include <utility>

#include "answers.h"
#include "bodies_budget.h"
#include "connection_table.h"
#include "cut_recv.h"
#include "input.h"
#include "service.h"
#include "session_environment.h"
#include "support/manual_clock.h"
#include "targets.h"
#include "worker_slots.h"

namespace tessera::fuzzing {
namespace {

constexpr std::size_t kMaxInputBytes = 16 << 10;

// Says what it was asked, so that two answers are equal only if the daemon read the same request.
class EchoService final : public Service {
 public:
  [[nodiscard]] RefusalOrCall begin(const Request& request) override {
    Response response;
    response.content_type = "text/plain";
    std::string text = std::string(request.method) + " " + std::string(request.target) + "\n";
    for (const auto& value : {request.host, request.content_type, request.accept, request.exports_done}) {
      text.append(value.value_or("-")).append("\n");
    }
    response.body = Body(text + std::string(request.body.whole()));
    response.without_body = request.method == "HEAD";
    return response;
  }
  void answering(const RequestReport& report) override {
    require(report.status >= 100 && report.status < 600, "an answer has its status");
  }
  void request_over(const RequestReport& report) override { require(!report.id.empty(), "a request has its id"); }
  [[nodiscard]] LimitCounters& limits() override { return limits_; }
  bool remove_old_runs() override { return false; }

 private:
  LimitCounters limits_;
};

class NoLoad final : public LoadSource {
 public:
  [[nodiscard]] ServerLoad load() const override { return {}; }
};

// A session has lost something if it logs that.
class StrictLogger final : public Logger {
 public:
  [[nodiscard]] bool is_on(LogLevel level) const override { return level >= LogLevel::kWarning; }
  void write(LogLevel /*level*/, std::string_view message, std::initializer_list<LogField> /*fields*/) override {
    message_ = message;
  }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::string message_;
};

std::string read_to_end(int socket) {
  std::string all;
  std::array<char, 8192> piece{};
  for (;;) {
    const ssize_t count = ::read(socket, piece.data(), piece.size());
    if (count <= 0) {
      return all;
    }
    all.append(piece.data(), static_cast<std::size_t>(count));
  }
}

std::string without_continues(std::string text) {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  for (std::size_t at = text.find(kContinue); at != std::string::npos; at = text.find(kContinue, at)) {
    text.erase(at, kContinue.size());
  }
  return text;
}

// Without the ids that the server makes up.
std::string without_ids(std::string text) {
  static constexpr std::string_view kName = "\r\nx-request-id: ";
  for (std::size_t at = text.find(kName); at != std::string::npos; at = text.find(kName, at)) {
    text.erase(at, text.find("\r\n", at + kName.size()) - at);
  }
  return text;
}

// What a client gets that sends `bytes`, then closes its half.
std::string answers_to(std::string_view bytes, std::size_t piece, bool is_hesitant) {
  const CutReceives cut(piece, is_hesitant);
  const testing::ManualClock clock;
  StrictLogger logger;
  EchoService service;
  DaemonOptions options;
  options.header_bytes = 1024;
  options.body_bytes = 4096;
  WorkerSlots call_slots(1, 1);
  WorkerSlots codec_slots(1, 1);
  ConnectionTable connections(4, options.idle_time, options.idle_time, logger, service.limits());
  std::atomic<bool> is_stopping = false;
  std::atomic<unsigned> busy_pollers{0};
  BodiesBudget bodies(options.body_bytes);
  const NoLoad load;
  SessionEnvironment environment{options,     service, logger,       clock,       call_slots, codec_slots,
                                 connections, bodies,  busy_pollers, is_stopping, load};
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0, "there are sockets");
  const UniqueFd client = UniqueFd::adopt(ends[0]);
  UniqueFd server = UniqueFd::adopt(ends[1]);
  require(::fcntl(server.value(), F_SETFL, O_NONBLOCK) == 0, "a socket need not block");
  require(::send(client.value(), bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()),
          "an input fits into a socket");
  ::shutdown(client.value(), SHUT_WR);
  boost::asio::io_context io(1);
  serve_connection(io, environment, std::move(server));
  io.run();
  if (!logger.message().empty()) {
    throw Broken("the daemon logged: " + logger.message());
  }
  return without_ids(without_continues(read_to_end(client.value())));
}

}  // namespace

void fuzz_http_session(std::string_view bytes) {
  Input input(bytes);
  const std::uint8_t choice = input.byte();
  const std::string_view sent = input.rest().substr(0, kMaxInputBytes);
  const std::string at_once = answers_to(sent, SIZE_MAX, false);
  require(at_once.empty() || at_once.starts_with("HTTP/1.1 "), "an answer is HTTP");
  const std::string in_pieces = answers_to(sent, 1U + choice / 2U, choice % 2 == 1);
  require(at_once == in_pieces, "pieces are answered as the whole is");
}

}  // namespace tessera::fuzzing
