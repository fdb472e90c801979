#include "http_session.h"

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>  // Boost 1.74 needs it first.
#include <variant>

#include "connection.h"
#include "request_reader.h"
#include "response_head.h"
#include "response_writer.h"
#include "task.h"

namespace tessera {
namespace {

namespace asio = boost::asio;

// Of a request with an id, or of a connection.
void log_exception(Logger& logger, std::string_view message, const std::exception_ptr& error,
                   std::string_view id = {}) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    logger.error(message, {{"what", exception.what()}, {"id", id}});
  } catch (...) {
    logger.error(message, {{"what", "not a std::exception"}, {"id", id}});
  }
}

// Shows the request that is being answered for as long as it is.
class ShownGuard {
 public:
  ShownGuard(WatchedConnection& watch, const RequestReport& report)
      : watch_(watch), request_{report.id, report.method, report.target, report.peer, report.times.last()} {
    watch_.show(request_);
  }
  ShownGuard(const ShownGuard&) = delete;
  ShownGuard& operator=(const ShownGuard&) = delete;
  ~ShownGuard() { watch_.hide(request_); }

 private:
  WatchedConnection& watch_;
  ShownRequest request_;
};

class HttpSession {
 public:
  HttpSession(asio::io_context& io, SessionEnvironment& environment, UniqueFd socket)
      : environment_(environment), connection_(io, environment, std::move(socket)), reader_(connection_, environment) {}

  [[nodiscard]] Task<void> run();

 private:
  [[nodiscard]] Task<bool> serve_request();
  void end_report();
  [[nodiscard]] Task<bool> answer();
  [[nodiscard]] Task<std::optional<Response>> compute();
  [[nodiscard]] Response answer_to_exception();
  [[nodiscard]] Response answer_without_worker();

  SessionEnvironment& environment_;
  Connection connection_;
  RequestReader reader_;
};

Task<void> HttpSession::run() {
  if (connection_.admission() == ConnectionTable::Admission::kDropped) {
    co_return;
  }
  bool is_kept = true;
  if (connection_.admission() == ConnectionTable::Admission::kRefused) {
    reader_.begin_report(environment_.clock.now());
    reader_.report().limit = Limit::kConnections;
    is_kept = co_await send_response(connection_, environment_, nullptr, make_refusal(503, "too many connections"),
                                     reader_.report());
    end_report();
  }
  while (is_kept) {
    is_kept = co_await serve_request();
  }
  co_await connection_.linger();
}

// Returns whether the connection is kept.
Task<bool> HttpSession::serve_request() {
  const RequestReader::Outcome outcome = co_await reader_.read();
  if (outcome == RequestReader::Outcome::kClosed) {
    end_report();
    co_return false;
  }
  if (outcome == RequestReader::Outcome::kRefused) {
    const bool is_kept =
        co_await send_response(connection_, environment_, reader_.head(), reader_.take_refusal(), reader_.report());
    end_report();
    co_return is_kept;
  }
  const bool is_kept = co_await answer();
  end_report();
  reader_.finish();
  if (is_kept && reader_.has_more()) {
    co_await connection_.give_others_a_turn();
  }
  co_return is_kept;
}

// Tells the service of the request that is over, or else the log of a connection that was closed.
void HttpSession::end_report() {
  RequestReport& report = reader_.report();
  const Limit closed_by = connection_.watch().closed_by();
  if (!report.is_sent && report.limit == Limit::kNone) {
    report.limit = closed_by;
  }
  if (!report.id.empty()) {
    environment_.service.request_over(report);
  } else if (closed_by != Limit::kNone) {
    environment_.logger.debug("closed a connection", {{"limit", name_of(closed_by)}, {"peer", connection_.peer()}});
  }
}

// Returns whether the connection is kept.
Task<bool> HttpSession::answer() {
  const ShownGuard shown(connection_.watch(), reader_.report());
  std::optional<Response> response;
  try {
    response = co_await compute();
  } catch (...) {
    response = answer_to_exception();
  }
  if (!response.has_value()) {
    co_return false;
  }
  // A large answer may take long to be taken; the memory of its request is free meanwhile.
  reader_.drop_body();
  co_return co_await send_response(connection_, environment_, reader_.head(), std::move(*response), reader_.report());
}

// Has the request answered; nothing if nobody wants the answer any more.
Task<std::optional<Response>> HttpSession::compute() {
  const Request& request = reader_.head()->request;
  const std::uint64_t body_bytes = request.body.size_bytes();
  RequestTimes& times = reader_.report().times;
  const Clock& clock = environment_.clock;
  HeldSlot codec_slot;
  if (body_bytes > kLargeBytes || environment_.service.may_wait_for_gpu(request)) {
    codec_slot = co_await connection_.wait_for_slot(environment_.codec_slots);
    times.end(RequestPart::kWait, clock.now());
  }
  std::variant<Response, std::unique_ptr<PendingCall>> begun = environment_.service.begin(request);
  times.end(RequestPart::kDecode, clock.now());
  codec_slot.give_back();
  if (auto* const response = std::get_if<Response>(&begun)) {
    co_return std::move(*response);
  }
  const std::unique_ptr<PendingCall> call = std::move(*std::get_if<std::unique_ptr<PendingCall>>(&begun));

  // On this thread if a slot is free: waking another one would cost more than a small call.
  HeldSlot call_slot;
  bool has_waited = false;
  if (environment_.call_slots.try_take()) {
    call_slot = HeldSlot(environment_.call_slots);
    times.skip(RequestPart::kWait);
  } else {
    call_slot = co_await connection_.wait_for_slot(environment_.call_slots);
    times.end(RequestPart::kWait, clock.now());
    if (!call_slot.is_held()) {
      co_return answer_without_worker();
    }
    has_waited = true;
  }
  // What has only just come is not asked about: that would cost every small call a system call.
  if (has_waited ? connection_.has_peer_gone() : body_bytes > kLargeBytes && connection_.is_broken()) {
    environment_.logger.debug("dropped a call, its client has gone", {{"id", reader_.report().id}});
    co_return std::nullopt;
  }
  call->run();
  times.end(RequestPart::kCompute, clock.now());
  call_slot.give_back();
  if (std::max(body_bytes, call->answer_bytes()) > kLargeBytes) {
    codec_slot = co_await connection_.wait_for_slot(environment_.codec_slots);
    times.end(RequestPart::kWait, clock.now());
  }
  co_return call->finish();
}

// The service and its calls never throw; if one does all the same, its client hears of it and others do not.
Response HttpSession::answer_to_exception() {
  log_exception(environment_.logger, "a request was lost to an exception", std::current_exception(),
                reader_.report().id);
  return make_internal_error();
}

Response HttpSession::answer_without_worker() {
  const bool is_stopping = environment_.is_stopping;
  Response response = make_refusal(503, is_stopping ? "the server stops, and no worker became free in time"
                                                    : "all workers are busy and too many calls wait for one");
  response.close = false;
  const Limit limit = is_stopping ? Limit::kStopTime : Limit::kWaitingCalls;
  environment_.service.limits().hit(limit);
  reader_.report().limit = limit;
  return response;
}

Task<void> run_session(std::unique_ptr<HttpSession> session) {
  co_await session->run();
}

}  // namespace

void serve_connection(asio::io_context& io, SessionEnvironment& environment, UniqueFd socket) {
  // Newer Boosts begin a coroutine at once, on this thread, which has other connections to accept.
  asio::post(io, [&io, &environment,
                  session = std::make_unique<HttpSession>(io, environment, std::move(socket))]() mutable {
    asio::co_spawn(io.get_executor(), run_session(std::move(session)), [&environment](const std::exception_ptr& error) {
      if (error) {
        log_exception(environment.logger, "a connection was lost to an exception", error);
      }
    });
  });
}

}  // namespace tessera
