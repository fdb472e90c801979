#include "request_reader.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include "response_head.h"
#include "tessera/base/checked_math.h"
#include "tessera/base/chunked_decoder.h"

namespace tessera {
namespace {

// Of a body from kHugeBytes on, so much comes before it gets memory of its own.
constexpr std::size_t kHugeBytes = std::size_t{4} << 20;
constexpr std::size_t kHugeBodyBegin = std::size_t{64} << 10;
constexpr std::size_t kFirstChunkedBytes = std::size_t{256} << 10;

}  // namespace

Task<RequestReader::Outcome> RequestReader::read() {
  report_ = {};
  body_bytes_ = 0;
  Outcome outcome = co_await read_head();
  if (outcome == Outcome::kRequest && head_.framing != RequestHead::Framing::kNoBody) {
    outcome = co_await read_body();
  }
  is_first_ = false;
  if (!report_.id.empty()) {
    report_.times.end(RequestPart::kReceive, environment_.clock.now());
    report_.received_bytes = has_head_ ? report_.received_bytes + body_bytes_ : input_.unread().size();
  }
  if (outcome != Outcome::kRequest) {
    drop_body();
  }
  co_return outcome;
}

void RequestReader::drop_body() {
  head_.request.body = {};
  chunked_body_ = {};
  long_body_.reset();
  held_.give_back();
}

void RequestReader::finish() {
  drop_body();
  input_.consume(std::exchange(used_bytes_, 0));
  has_head_ = false;
}

void RequestReader::begin_report(Clock::Instant began) {
  report_.id = made_id_.make();
  report_.peer = connection_.peer();
  report_.times.begin(began);
}

Task<RequestReader::Outcome> RequestReader::read_head() {
  const std::size_t limit = environment_.options.header_bytes;
  HeadScanner scanner({.request_line_bytes = environment_.options.request_line_bytes,
                       .header_value_bytes = environment_.options.header_value_bytes,
                       .headers = environment_.options.headers});
  std::optional<Clock::Instant> deadline;
  // A new client sends at once; one that has just been answered takes its time.
  bool expects_bytes = is_first_;
  input_.settle();
  if (!input_.is_empty()) {
    begin_report(environment_.clock.now());
  }
  while (true) {
    if (!input_.is_empty()) {
      // What is beyond the limit is not looked at: the answer is one, however much came at once.
      const HeadScanner::Found found = scanner.scan(input_.unread().substr(0, limit));
      if (found == HeadScanner::Found::kEnd) {
        co_return take_head(scanner);
      }
      if (found != HeadScanner::Found::kNothingYet) {
        co_return refuse_head(found);
      }
      if (input_.unread().size() >= limit) {
        co_return refuse_long_head(scanner.has_request_line());
      }
    }
    if (!expects_bytes && input_.is_empty() && !is_first_) {
      expects_bytes = connection_.poll_for_next_request();
    }
    if (!expects_bytes) {
      const bool is_open = co_await wait_for_head(deadline);
      if (!is_open) {
        co_return Outcome::kClosed;
      }
    }
    expects_bytes = false;
    std::size_t count = 0;
    const Clock::Instant began = environment_.clock.now();  // before: what is received was there
    if (connection_.try_receive(input_.room(limit), count) == Received::kEnd) {
      co_return Outcome::kClosed;
    }
    input_.add(count);
    if (count > 0 && report_.id.empty()) {
      begin_report(began);
    }
  }
}

Task<bool> RequestReader::wait_for_head(std::optional<Clock::Instant>& deadline) {
  const DaemonOptions& options = environment_.options;
  if (input_.is_empty()) {
    input_.settle();
    if (is_first_) {
      co_return co_await connection_.wait_readable(connection_.after(options.idle_time * kFirstRequestPatience),
                                                   Connection::Wait::kForFirstRequest);
    }
    co_return co_await connection_.wait_readable(connection_.after(options.idle_time),
                                                 Connection::Wait::kForNextRequest);
  }
  if (!deadline.has_value()) {
    deadline = connection_.after(options.header_time);
  }
  co_return co_await connection_.wait_readable(*deadline, Connection::Wait::kForHead);
}

RequestReader::Outcome RequestReader::take_head(const HeadScanner& scanner) {
  used_bytes_ = scanner.size_bytes();
  const std::optional<RequestHead> head = parse_head(input_.unread().substr(0, used_bytes_));
  if (!head.has_value()) {
    return refuse(make_bad_request());
  }
  head_ = *head;
  has_head_ = true;
  complete_head();
  report_.received_bytes = used_bytes_;
  environment_.service.head_arrived(head_.request);
  return Outcome::kRequest;
}

// Adds what the bytes of a head do not say, and notes what they do.
void RequestReader::complete_head() {
  Request& request = head_.request;
  request.peer = connection_.peer();
  request.report = &report_;
  request.server = &environment_.load;
  report_.method = request.method;
  report_.target = request.target;
  if (request.request_id.has_value() && is_request_id(*request.request_id)) {
    report_.id = *request.request_id;
  }
}

Task<RequestReader::Outcome> RequestReader::read_body() {
  const std::uint64_t length = head_.content_length;
  const bool is_chunked = head_.framing == RequestHead::Framing::kChunked;
  const std::size_t begun = input_.unread().size() - used_bytes_;
  body_bytes_ = is_chunked ? 0 : std::min<std::uint64_t>(begun, length);
  if (length > environment_.options.body_bytes) {
    co_return refuse_long_body("a body of " + std::to_string(length) + " bytes");
  }
  if (length > environment_.bodies.limit_bytes()) {
    co_return refuse_for_all_bodies("a body of " + std::to_string(length) + " bytes");
  }
  connection_.begin_body();
  if ((is_chunked || begun < length) && is_refused_unread()) {
    co_return Outcome::kRefused;
  }
  if (head_.awaits_continue && begun == 0) {
    const bool is_sent = co_await connection_.send("HTTP/1.1 100 Continue\r\n\r\n", {});
    if (!is_sent) {
      co_return Outcome::kClosed;
    }
  }
  if (is_chunked) {
    co_return co_await read_chunked_body();
  }
  // Both are so far within limits, but nothing here may depend on how large limits are.
  const std::optional<std::uint64_t> whole = checked_add<std::uint64_t>(used_bytes_, length);
  if (!whole.has_value()) {
    co_return refuse_long_body("a body of " + std::to_string(length) + " bytes");
  }
  if (input_.has_room_for(*whole)) {
    co_return co_await read_short_body(length);
  }
  co_return co_await read_long_body(length);
}

// Reads a body that fits behind its head.
Task<RequestReader::Outcome> RequestReader::read_short_body(std::size_t length) {
  while (input_.unread().size() < used_bytes_ + length) {
    const std::size_t count = co_await connection_.receive(input_.room(0));
    if (count == 0) {
      co_return Outcome::kClosed;
    }
    input_.add(count);
    body_bytes_ = std::min(length, input_.unread().size() - used_bytes_);
  }
  if (!held_.add(length)) {
    co_return refuse_for_now(length);
  }
  head_.request.body = input_.unread().substr(used_bytes_, length);
  used_bytes_ += length;
  co_return Outcome::kRequest;
}

// Reads a body into memory of its own, as large as was announced. One who promises more than he sends takes addresses,
// not memory, and growing would copy. But pages may be huge, so much is only promised to one who has sent something.
Task<RequestReader::Outcome> RequestReader::read_long_body(std::size_t length) {
  if (length >= kHugeBytes) {
    set_head_apart();
    while (input_.unread().size() < kHugeBodyBegin) {
      const std::size_t count = co_await connection_.receive(input_.room(kHugeBodyBegin));
      if (count == 0) {
        co_return Outcome::kClosed;
      }
      input_.add(count);
      body_bytes_ += count;
    }
  }
  ArrivingText* const body = begin_long_body(length);
  if (body == nullptr) {
    co_return refuse(make_refusal(503, "not enough memory for a body of " + std::to_string(length) + " bytes"),
                     Limit::kBodyMemory);
  }
  const std::string_view begun = input_.unread().substr(used_bytes_);
  if (!held_.add(begun.size())) {
    co_return refuse_for_now(begun.size());
  }
  for (std::string_view left = begun; !left.empty();) {
    left.remove_prefix(body->put(std::as_bytes(std::span(left))));
  }
  used_bytes_ += begun.size();
  for (std::span<std::byte> room = body->room(); !room.empty(); room = body->room()) {
    const std::size_t count = co_await connection_.receive(room);
    if (count == 0) {
      co_return Outcome::kClosed;
    }
    body_bytes_ += count;
    if (!held_.add(count)) {
      co_return refuse_for_now(count);
    }
    report_.times.end(RequestPart::kReceive, environment_.clock.now());
    body->add(count);
    report_.times.end(RequestPart::kDecode, environment_.clock.now());
  }
  head_.request.body = RequestBody(*body);
  co_return Outcome::kRequest;
}

// Moves the head out of the way, so that the input buffer can be used up and filled again.
void RequestReader::set_head_apart() {
  head_copy_ = input_.unread().substr(0, used_bytes_);
  input_.consume(std::exchange(used_bytes_, 0));
  if (const std::optional<RequestHead> head = parse_head(head_copy_)) {
    head_ = *head;
    complete_head();
  }
}

Task<RequestReader::Outcome> RequestReader::read_chunked_body() {
  set_head_apart();
  ChunkedDecoder decoder(environment_.options.body_bytes);
  std::size_t filled = 0;
  while (true) {
    while (!input_.is_empty()) {
      const ChunkedDecoder::Step step = decoder.next(input_.unread());
      body_bytes_ += step.data.size();
      if (filled + step.data.size() > environment_.bodies.limit_bytes()) {
        co_return refuse_for_all_bodies("the body");
      }
      if (!held_.add(step.data.size())) {
        co_return refuse_for_now(step.data.size());
      }
      if (!append_to_body(filled, step.data)) {
        co_return refuse(make_refusal(503, "not enough memory for the body"), Limit::kBodyMemory);
      }
      filled += step.data.size();
      input_.consume(step.used);
      if (step.state == ChunkedDecoder::State::kDone) {
        head_.request.body = std::string_view(reinterpret_cast<const char*>(chunked_body_.data()), filled);
        co_return Outcome::kRequest;
      }
      if (step.state == ChunkedDecoder::State::kBad) {
        co_return refuse(make_bad_request());
      }
      if (step.state == ChunkedDecoder::State::kTooLarge) {
        co_return refuse_long_body("the body");
      }
    }
    const std::size_t count = co_await connection_.receive(input_.room(environment_.options.header_bytes));
    if (count == 0) {
      co_return Outcome::kClosed;
    }
    input_.add(count);
  }
}

// Returns nullptr if there is no memory for it.
ArrivingText* RequestReader::begin_long_body(std::size_t size) {
  try {
    return &long_body_.emplace(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

// Returns false if there is no memory for it.
bool RequestReader::append_to_body(std::size_t filled, std::string_view data) {
  const std::optional<std::size_t> size = checked_add(filled, data.size());
  if (!size.has_value()) {
    return false;
  }
  if (*size > chunked_body_.size_bytes()) {
    const Buffer smaller = chunked_body_;
    const std::size_t wanted = std::max(kFirstChunkedBytes, checked_multiply(*size, std::size_t{2}).value_or(*size));
    try {
      chunked_body_ = Buffer::allocate(wanted);
    } catch (const std::bad_alloc&) {
      return false;
    }
    std::copy_n(smaller.data(), filled, chunked_body_.data());
  }
  std::copy_n(reinterpret_cast<const std::byte*>(data.data()), data.size(), chunked_body_.data() + filled);
  return true;
}

// Short bodies are read even for nothing, so that the connection can be kept.
bool RequestReader::is_refused_unread() {
  const bool is_chunked = head_.framing == RequestHead::Framing::kChunked;
  if (!head_.awaits_continue && !is_chunked && head_.content_length <= kLargeBytes) {
    return false;
  }
  std::optional<Response> refusal = environment_.service.refuse_unread(head_.request);
  if (!refusal.has_value()) {
    return false;
  }
  refusal_ = std::move(*refusal);
  refusal_.close = true;
  return true;
}

RequestReader::Outcome RequestReader::refuse(Response response, Limit limit) {
  environment_.service.limits().hit(limit);
  report_.limit = limit;
  refusal_ = std::move(response);
  return Outcome::kRefused;
}

RequestReader::Outcome RequestReader::refuse_head(HeadScanner::Found found) {
  const DaemonOptions& options = environment_.options;
  switch (found) {
    case HeadScanner::Found::kLongRequestLine:
      return refuse(
          make_refusal(414, "the request line is longer than " + std::to_string(options.request_line_bytes) + " bytes"),
          Limit::kRequestLineBytes);
    case HeadScanner::Found::kLongHeader:
      return refuse(
          make_refusal(431, "a header is longer than " + std::to_string(options.header_value_bytes) + " bytes"),
          Limit::kHeaderValueBytes);
    case HeadScanner::Found::kTooManyHeaders:
      return refuse(make_refusal(431, "there are more than " + std::to_string(options.headers) + " headers"),
                    Limit::kHeaders);
    default:
      return refuse(make_bad_request());
  }
}

RequestReader::Outcome RequestReader::refuse_long_head(bool has_request_line) {
  const std::string limit = std::to_string(environment_.options.header_bytes) + " bytes";
  return has_request_line
             ? refuse(make_refusal(431, "the headers are longer than " + limit), Limit::kHeaderBytes)
             : refuse(make_refusal(414, "the request line is longer than " + limit), Limit::kRequestLineBytes);
}

RequestReader::Outcome RequestReader::refuse_long_body(const std::string& what) {
  const std::string limit = std::to_string(environment_.options.body_bytes) + " bytes";
  return refuse(make_refusal(413, what + " is larger than the limit of " + limit), Limit::kBodyBytes);
}

RequestReader::Outcome RequestReader::refuse_for_all_bodies(const std::string& what) {
  const std::string limit = std::to_string(environment_.bodies.limit_bytes()) + " bytes";
  return refuse(make_refusal(413, what + " is larger than the limit of " + limit + " for all bodies together"),
                Limit::kBodiesBytes);
}

// Others have to end first. Which request it is depends on who comes last, so none waits for another.
RequestReader::Outcome RequestReader::refuse_for_now(std::uint64_t more_bytes) {
  const BodiesBudget& bodies = environment_.bodies;
  return refuse(
      make_refusal(503, "the bodies of all requests hold " + std::to_string(bodies.held_bytes()) + " bytes, and " +
                            std::to_string(more_bytes) + " more of this one are beyond the limit of " +
                            std::to_string(bodies.limit_bytes()) + " bytes for all together"),
      Limit::kBodiesBytes);
}

}  // namespace tessera
