#include "http_session.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <cerrno>
#include <cstring>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>  // Boost 1.74 needs it first.

#include "chunked_decoder.h"
#include "input_buffer.h"
#include "request_head.h"
#include "response_head.h"
#include "tessera/array/buffer.h"

namespace tessera {
namespace {

namespace asio = boost::asio;
using Executor = asio::io_context::executor_type;
template <class T>
using Task = asio::awaitable<T, Executor>;
using UseTask = asio::use_awaitable_t<Executor>;
using Wait = WatchedConnection::Wait;

// Bodies above this are decoded and encoded under a codec slot.
constexpr std::uint64_t kLargeBytes = std::uint64_t{1} << 20;
// Answers up to this are copied behind their head and sent with it at once.
constexpr std::size_t kSmallAnswerBytes = std::size_t{16} << 10;
constexpr std::size_t kScratchBytes = std::size_t{256} << 10;
// How much one connection may move before others get a turn on its thread.
constexpr std::size_t kTurnBytes = std::size_t{4} << 20;
// A connection that never sent anything may wait this many times as long as one that is idle between requests. Upstream
// lets it wait for ever (PROTOCOL.md section 1).
constexpr int kFirstRequestPatience = 4;
// How long what a refused client still sends is thrown away, so that it reads the refusal before a reset.
constexpr std::chrono::seconds kLingerTime{2};

// Wakes a coroutine that waits for a slot, on some thread of its io_context.
template <class Handler>
class SlotWaiter final : public WorkerSlots::Waiter {
 public:
  SlotWaiter(asio::io_context& io, Handler handler) : io_(io), handler_(std::move(handler)) {}
  void granted() override { finish(true); }
  void finish(bool is_granted) {
    asio::post(io_, [handler = std::move(handler_), is_granted]() mutable { handler(is_granted); });
  }

 private:
  asio::io_context& io_;
  Handler handler_;
};

// Sends without blocking; returns how many bytes went, nothing if the connection is broken.
std::optional<std::size_t> send_now(int socket, std::string_view first, std::string_view second) {
  std::array<::iovec, 2> parts{
      {{const_cast<char*>(first.data()), first.size()}, {const_cast<char*>(second.data()), second.size()}}};
  ::msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  while (true) {
    const ssize_t sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0) {
      return static_cast<std::size_t>(sent);
    }
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
      return 0;
    }
    if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

void drop_front(std::string_view& first, std::string_view& second, std::size_t count) {
  const std::size_t from_first = std::min(first.size(), count);
  first.remove_prefix(from_first);
  second.remove_prefix(count - from_first);
}

std::string_view view_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void append_whole(std::string& text, const Body& body) {
  std::array<std::byte, std::size_t{4} << 10> scratch;
  Body::Cursor cursor(body);
  for (auto piece = cursor.next(scratch); !piece.empty(); piece = cursor.next(scratch)) {
    text += view_of(piece);
  }
}

void log_exception(Logger& logger, std::string_view message, const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& exception) {
    logger.error(message, {{"what", exception.what()}});
  } catch (...) {
    logger.error(message, {{"what", "not a std::exception"}});
  }
}

class HttpSession {
 public:
  HttpSession(asio::io_context& io, SessionEnvironment& environment, UniqueFd socket)
      : environment_(environment), io_(io), socket_(socket.value()), watch_(socket.value()), descriptor_(io) {
    descriptor_.assign(socket.value());
    static_cast<void>(socket.release());
    admission_ = environment_.connections.add(watch_);
  }
  HttpSession(const HttpSession&) = delete;
  HttpSession& operator=(const HttpSession&) = delete;
  // The table may shut the descriptor down until then, so it is left before the descriptor is closed.
  ~HttpSession() { environment_.connections.remove(watch_); }

  [[nodiscard]] Task<void> run();

 private:
  enum class Outcome { kComplete, kClosed, kRefused };

  [[nodiscard]] Task<bool> serve_request();
  [[nodiscard]] Task<Outcome> read_head();
  [[nodiscard]] Task<Outcome> read_body();
  [[nodiscard]] Task<Outcome> read_sized_body();
  [[nodiscard]] Task<Outcome> read_chunked_body();
  [[nodiscard]] Task<bool> answer();
  [[nodiscard]] Task<std::optional<Response>> compute();
  [[nodiscard]] Task<HeldSlot> wait_for_slot(WorkerSlots& slots);
  [[nodiscard]] Task<bool> send(Response response);
  [[nodiscard]] Task<void> send_refusal();
  [[nodiscard]] Task<bool> send_body(std::string head, const Body& body);
  [[nodiscard]] Task<bool> write(std::string_view first, std::string_view second);
  [[nodiscard]] Task<bool> wait_readable(Clock::Instant deadline, Wait wait);
  [[nodiscard]] Task<void> give_others_a_turn();
  [[nodiscard]] Task<void> linger();

  [[nodiscard]] bool allocate_body(std::size_t size);
  [[nodiscard]] Response answer_to_exception();
  [[nodiscard]] Outcome refuse(Response response);
  [[nodiscard]] bool is_peer_gone() const;
  [[nodiscard]] bool will_keep(const Response& response) const;
  [[nodiscard]] Clock::Instant after(std::chrono::seconds time) const { return environment_.clock.now() + time; }
  void log_request(const Response& response) const;

  SessionEnvironment& environment_;
  asio::io_context& io_;
  int socket_;
  WatchedConnection watch_;
  asio::posix::basic_stream_descriptor<Executor> descriptor_;
  ConnectionTable::Admission admission_ = ConnectionTable::Admission::kServed;
  bool is_first_ = true;

  // Of the request that is handled.
  InputBuffer input_;
  RequestHead head_;
  bool has_head_ = false;
  std::string head_copy_;       // of a chunked request, whose bytes make room for its body
  std::size_t used_bytes_ = 0;  // of input_, that belong to the request
  Buffer body_;
  std::optional<Response> refusal_;
};

Task<void> HttpSession::run() {
  if (admission_ == ConnectionTable::Admission::kDropped) {
    co_return;
  }
  if (admission_ == ConnectionTable::Admission::kRefused) {
    static_cast<void>(refuse(make_refusal(503, "too many connections")));
    co_await send_refusal();
  } else {
    // g++ 12 compiles a co_await in a condition wrongly; everywhere here it stands alone or begins a variable.
    bool is_kept = true;
    while (is_kept) {
      is_kept = co_await serve_request();
    }
  }
  co_await linger();
}

// Returns whether the connection is kept.
Task<bool> HttpSession::serve_request() {
  Outcome outcome = co_await read_head();
  if (outcome == Outcome::kComplete) {
    outcome = co_await read_body();
  }
  is_first_ = false;
  if (outcome == Outcome::kClosed) {
    co_return false;
  }
  if (outcome == Outcome::kRefused) {
    co_await send_refusal();
    co_return false;
  }
  const bool is_kept = co_await answer();
  input_.consume(used_bytes_);
  has_head_ = false;
  if (is_kept && !input_.is_empty()) {
    co_await give_others_a_turn();
  }
  co_return is_kept;
}

Task<HttpSession::Outcome> HttpSession::read_head() {
  const std::size_t limit = environment_.options.header_bytes;
  HeadScanner scanner;
  std::optional<Clock::Instant> head_deadline;
  // A new client sends at once; one that has just been answered takes its time.
  bool expects_bytes = is_first_;
  input_.settle();
  while (true) {
    if (!input_.is_empty()) {
      const HeadScanner::Found found = scanner.scan(input_.unread());
      const std::size_t seen = found == HeadScanner::Found::kEnd ? scanner.size_bytes() : input_.unread().size();
      if (found == HeadScanner::Found::kBad) {
        co_return refuse(make_bad_request());
      }
      if (seen > limit || (seen == limit && found == HeadScanner::Found::kNothingYet)) {
        const std::string text = std::to_string(limit) + " bytes";
        co_return refuse(scanner.has_request_line() ? make_refusal(431, "the headers are longer than " + text)
                                                    : make_refusal(414, "the request line is longer than " + text));
      }
      if (found == HeadScanner::Found::kEnd) {
        break;
      }
    }
    if (!expects_bytes) {
      const auto& options = environment_.options;
      if (!input_.is_empty() && !head_deadline.has_value()) {
        head_deadline = after(options.header_time);
      }
      const auto idle_time = is_first_ ? options.idle_time * kFirstRequestPatience : options.idle_time;
      const Clock::Instant deadline = head_deadline.value_or(after(idle_time));
      const bool is_open = co_await wait_readable(deadline, Wait::kForRequest);
      if (!is_open) {
        co_return Outcome::kClosed;
      }
    }
    expects_bytes = false;
    if (input_.receive(socket_, limit) == Received::kEnd) {
      co_return Outcome::kClosed;
    }
    if (input_.is_empty()) {
      input_.settle();
    }
  }
  used_bytes_ = scanner.size_bytes();
  std::optional<RequestHead> head = parse_head(input_.unread().substr(0, used_bytes_));
  if (!head.has_value()) {
    co_return refuse(make_bad_request());
  }
  head_ = *head;
  has_head_ = true;
  co_return Outcome::kComplete;
}

Task<HttpSession::Outcome> HttpSession::read_body() {
  if (head_.framing == RequestHead::Framing::kNoBody) {
    co_return Outcome::kComplete;
  }
  const std::uint64_t length = head_.content_length;
  if (length > environment_.options.body_bytes) {
    co_return refuse(make_refusal(413, "a body of " + std::to_string(length) + " bytes is larger than the limit of " +
                                           std::to_string(environment_.options.body_bytes) + " bytes"));
  }
  const bool is_chunked = head_.framing == RequestHead::Framing::kChunked;
  const bool is_here = !is_chunked && input_.unread().size() - used_bytes_ >= length;
  if (!is_here && (head_.awaits_continue || is_chunked || length > kLargeBytes)) {
    if (std::optional<Response> refusal = environment_.service.refuse_unread(head_.request)) {
      refusal->close = true;
      refusal_ = std::move(refusal);
      co_return Outcome::kRefused;
    }
  }
  const bool has_begun = input_.unread().size() > used_bytes_;
  if (head_.awaits_continue && !has_begun) {
    const bool is_sent = co_await write("HTTP/1.1 100 Continue\r\n\r\n", {});
    if (!is_sent) {
      co_return Outcome::kClosed;
    }
  }
  if (is_chunked) {
    co_return co_await read_chunked_body();
  }
  co_return co_await read_sized_body();
}

Task<HttpSession::Outcome> HttpSession::read_sized_body() {
  const auto length = static_cast<std::size_t>(head_.content_length);
  const auto& options = environment_.options;
  if (input_.has_room_for(used_bytes_ + length)) {
    while (input_.unread().size() < used_bytes_ + length) {
      const Received received = input_.receive(socket_, 0);
      if (received == Received::kEnd) {
        co_return Outcome::kClosed;
      }
      if (received == Received::kNothingYet) {
        const bool is_open = co_await wait_readable(after(options.body_progress_time), Wait::kWithinRequest);
        if (!is_open) {
          co_return Outcome::kClosed;
        }
      }
    }
    head_.request.body = input_.unread().substr(used_bytes_, length);
    used_bytes_ += length;
    co_return Outcome::kComplete;
  }
  // All of it at once, however much was announced: pages that are never written to cost nothing, so one who promises
  // more than he sends takes addresses, not memory; and growing would copy.
  if (!allocate_body(length)) {
    co_return refuse(make_refusal(503, "not enough memory for a body of " + std::to_string(length) + " bytes"));
  }
  const std::string_view begun = input_.unread().substr(used_bytes_);
  std::memcpy(body_.data(), begun.data(), begun.size());
  used_bytes_ += begun.size();
  std::size_t filled = begun.size();
  std::size_t since_turn = 0;
  while (filled < length) {
    std::size_t count = 0;
    const Received received = receive_into(socket_, body_.bytes().subspan(filled), count);
    filled += count;
    since_turn += count;
    if (received == Received::kEnd) {
      co_return Outcome::kClosed;
    }
    if (received == Received::kNothingYet) {
      since_turn = 0;
      const bool is_open = co_await wait_readable(after(options.body_progress_time), Wait::kWithinRequest);
      if (!is_open) {
        co_return Outcome::kClosed;
      }
    } else if (since_turn >= kTurnBytes) {
      since_turn = 0;
      co_await give_others_a_turn();
    }
  }
  head_.request.body = view_of(body_.bytes());
  co_return Outcome::kComplete;
}

Task<HttpSession::Outcome> HttpSession::read_chunked_body() {
  // The head moves out of the way, so that the input buffer can be used up and filled again.
  head_copy_ = input_.unread().substr(0, used_bytes_);
  input_.consume(std::exchange(used_bytes_, 0));
  if (std::optional<RequestHead> head = parse_head(head_copy_)) {
    head_ = *head;
  }
  ChunkedDecoder decoder(environment_.options.body_bytes);
  std::size_t filled = 0;
  std::size_t since_turn = 0;
  while (true) {
    while (!input_.is_empty()) {
      const ChunkedDecoder::Step step = decoder.next(input_.unread());
      if (filled + step.data.size() > body_.size_bytes()) {
        const Buffer smaller = body_;
        if (!allocate_body(std::max(kScratchBytes, (filled + step.data.size()) * 2))) {
          co_return refuse(make_refusal(503, "not enough memory for the body"));
        }
        std::copy_n(smaller.data(), filled, body_.data());
      }
      std::copy_n(reinterpret_cast<const std::byte*>(step.data.data()), step.data.size(), body_.data() + filled);
      filled += step.data.size();
      since_turn += step.used;
      input_.consume(step.used);
      switch (step.state) {
        case ChunkedDecoder::State::kMore:
          break;
        case ChunkedDecoder::State::kDone:
          head_.request.body = view_of(body_.bytes().first(filled));
          co_return Outcome::kComplete;
        case ChunkedDecoder::State::kBad:
          co_return refuse(make_bad_request());
        case ChunkedDecoder::State::kTooLarge:
          co_return refuse(make_refusal(413, "the body is larger than the limit of " +
                                                 std::to_string(environment_.options.body_bytes) + " bytes"));
      }
    }
    if (since_turn >= kTurnBytes) {
      since_turn = 0;
      co_await give_others_a_turn();
    }
    const Received received = input_.receive(socket_, environment_.options.header_bytes);
    if (received == Received::kEnd) {
      co_return Outcome::kClosed;
    }
    if (received == Received::kNothingYet) {
      since_turn = 0;
      const auto progress_time = environment_.options.body_progress_time;
      const bool is_open = co_await wait_readable(after(progress_time), Wait::kWithinRequest);
      if (!is_open) {
        co_return Outcome::kClosed;
      }
    }
  }
}

// Returns whether the connection is kept.
Task<bool> HttpSession::answer() {
  std::optional<Response> response;
  try {
    response = co_await compute();
  } catch (...) {
    response = answer_to_exception();
  }
  // A large answer may take long to be taken; the memory of its request is free meanwhile.
  head_.request.body = {};
  body_ = {};
  if (!response.has_value()) {
    co_return false;
  }
  co_return co_await send(std::move(*response));
}

// Has the request answered; nothing if nobody wants the answer any more.
Task<std::optional<Response>> HttpSession::compute() {
  const std::uint64_t body_bytes = head_.request.body.size();
  HeldSlot codec_slot;
  if (body_bytes > kLargeBytes) {
    codec_slot = co_await wait_for_slot(environment_.codec_slots);
  }
  std::variant<Response, std::unique_ptr<PendingCall>> begun = environment_.service.begin(head_.request);
  codec_slot.give_back();
  if (auto* const response = std::get_if<Response>(&begun)) {
    co_return std::move(*response);
  }
  const std::unique_ptr<PendingCall> call = std::move(*std::get_if<std::unique_ptr<PendingCall>>(&begun));

  HeldSlot call_slot;
  if (environment_.call_slots.try_take()) {
    call_slot = HeldSlot(environment_.call_slots);
  } else {
    call_slot = co_await wait_for_slot(environment_.call_slots);
    if (!call_slot.is_held()) {
      Response full = make_refusal(503, "all workers are busy and too many calls wait for one");
      full.headers.emplace_back("retry-after", "1");
      full.close = false;
      environment_.service.count_refusal(full.status);
      co_return full;
    }
    if (is_peer_gone()) {
      environment_.logger.debug("dropped a waiting call, its client has gone");
      co_return std::nullopt;
    }
  }
  call->run();
  call_slot.give_back();
  if (std::max(body_bytes, call->answer_bytes()) > kLargeBytes) {
    codec_slot = co_await wait_for_slot(environment_.codec_slots);
  }
  co_return call->finish();
}

Task<HeldSlot> HttpSession::wait_for_slot(WorkerSlots& slots) {
  const bool is_granted = co_await asio::async_initiate<const UseTask, void(bool)>(
      [this, &slots](auto handler) {
        auto* const waiter = new SlotWaiter<decltype(handler)>(io_, std::move(handler));
        std::unique_ptr<WorkerSlots::Waiter> owner(waiter);
        const WorkerSlots::Outcome outcome = slots.take_or_wait(owner);
        if (outcome != WorkerSlots::Outcome::kQueued) {
          waiter->finish(outcome == WorkerSlots::Outcome::kTaken);
        }
      },
      UseTask());
  co_return is_granted ? HeldSlot(slots) : HeldSlot();
}

// Returns whether the connection is kept.
Task<bool> HttpSession::send(Response response) {
  const bool is_kept = will_keep(response);
  const bool has_body =
      !response.without_body && !is_bodiless(response.status) && !(has_head_ && head_.request.method == "HEAD");
  ConnectionNote note = is_kept ? ConnectionNote::kNone : ConnectionNote::kClose;
  if (is_kept && head_.is_http_1_0) {
    note = ConnectionNote::kKeepAlive;
  }
  std::string text;
  const bool is_small = has_body && response.body.size_bytes() <= kSmallAnswerBytes;
  text.reserve(512 + (is_small ? static_cast<std::size_t>(response.body.size_bytes()) : 0));
  append_head(text, response, note, environment_.clock.wall_now());
  log_request(response);
  bool is_sent = false;
  if (has_body && !is_small) {
    is_sent = co_await send_body(std::move(text), response.body);
  } else {
    if (is_small) {
      append_whole(text, response.body);
    }
    is_sent = co_await write(text, {});
  }
  co_return is_sent&& is_kept;
}

Task<void> HttpSession::send_refusal() {
  Response response = std::move(refusal_).value();
  refusal_.reset();
  const bool is_kept = co_await send(std::move(response));
  static_cast<void>(is_kept);
}

Task<bool> HttpSession::send_body(std::string head, const Body& body) {
  const Buffer scratch = Buffer::allocate(kScratchBytes);
  Body::Cursor cursor(body);
  std::string_view first = head;
  std::size_t since_turn = 0;
  while (true) {
    const std::string_view piece = view_of(cursor.next(scratch.bytes()));
    if (piece.empty()) {
      co_return true;
    }
    const bool is_sent = co_await write(std::exchange(first, {}), piece);
    if (!is_sent) {
      co_return false;
    }
    since_turn += piece.size();
    if (since_turn >= kTurnBytes) {
      since_turn = 0;
      co_await give_others_a_turn();
    }
  }
}

// Returns whether all of it was sent.
Task<bool> HttpSession::write(std::string_view first, std::string_view second) {
  while (true) {
    const std::optional<std::size_t> sent = send_now(socket_, first, second);
    if (!sent.has_value()) {
      co_return false;
    }
    drop_front(first, second, *sent);
    if (first.empty() && second.empty()) {
      co_return true;
    }
    if (!watch_.arm(after(environment_.options.body_progress_time), Wait::kWithinRequest)) {
      co_return false;
    }
    boost::system::error_code error;
    co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_write, asio::redirect_error(UseTask(), error));
    if (!watch_.disarm() || error) {
      co_return false;
    }
  }
}

// Returns whether there may be something to receive; not if the connection is being closed.
Task<bool> HttpSession::wait_readable(Clock::Instant deadline, Wait wait) {
  // In this order: a daemon that stops sets the flag, then closes whoever waits for a request.
  if (!watch_.arm(deadline, wait) || (wait == Wait::kForRequest && environment_.is_stopping)) {
    co_return false;
  }
  boost::system::error_code error;
  co_await descriptor_.async_wait(asio::posix::descriptor_base::wait_read, asio::redirect_error(UseTask(), error));
  co_return watch_.disarm() && !error;
}

Task<void> HttpSession::give_others_a_turn() {
  co_await asio::post(io_, UseTask());
}

// Closes our side and throws away what the client still sends until it has seen that.
Task<void> HttpSession::linger() {
  ::shutdown(socket_, SHUT_WR);
  const Clock::Instant deadline = after(kLingerTime);
  input_.consume(input_.unread().size());
  input_.settle();
  while (true) {
    const Received received = input_.receive(socket_, 0);
    input_.consume(input_.unread().size());
    if (received == Received::kEnd || environment_.clock.now() >= deadline) {
      co_return;
    }
    if (received == Received::kBytes) {
      co_await give_others_a_turn();
      continue;
    }
    const bool is_open = co_await wait_readable(deadline, Wait::kForRequest);
    if (!is_open) {
      co_return;
    }
  }
}

bool HttpSession::allocate_body(std::size_t size) {
  try {
    body_ = Buffer::allocate(size);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

// The service and its calls never throw; if one does all the same, its client hears of it and others do not.
Response HttpSession::answer_to_exception() {
  log_exception(environment_.logger, "a request was lost to an exception", std::current_exception());
  Response response = make_internal_error();
  environment_.service.count_refusal(response.status);
  return response;
}

// Keeps the refusal of a request that was not read to its end, and counts it.
HttpSession::Outcome HttpSession::refuse(Response response) {
  environment_.service.count_refusal(response.status);
  refusal_ = std::move(response);
  return Outcome::kRefused;
}

bool HttpSession::is_peer_gone() const {
  char byte = 0;
  const ssize_t got = ::recv(socket_, &byte, 1, MSG_PEEK);
  return got == 0 || (got < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR);
}

bool HttpSession::will_keep(const Response& response) const {
  return has_head_ && head_.keep_alive && !response.close && !environment_.is_stopping;
}

void HttpSession::log_request(const Response& response) const {
  if (environment_.logger.is_on(LogLevel::kDebug)) {
    const Request& request = head_.request;
    environment_.logger.debug("answered", {{"method", has_head_ ? request.method : "?"},
                                           {"target", has_head_ ? request.target.substr(0, 200) : "?"},
                                           {"status", std::int64_t{response.status}}});
  }
}

Task<void> run_session(std::unique_ptr<HttpSession> session) {
  co_await session->run();
}

}  // namespace

void serve_connection(asio::io_context& io, SessionEnvironment& environment, UniqueFd socket) {
  auto session = std::make_unique<HttpSession>(io, environment, std::move(socket));
  asio::co_spawn(io.get_executor(), run_session(std::move(session)), [&environment](const std::exception_ptr& error) {
    if (error) {
      log_exception(environment.logger, "a connection was lost to an exception", error);
    }
  });
}

}  // namespace tessera
