// Reads requests from a connection, one after the other: heads, bodies of either framing, and the limits of both.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "bodies_budget.h"
#include "connection.h"
#include "input_buffer.h"
#include "request.h"
#include "request_head.h"
#include "request_id.h"
#include "request_report.h"
#include "session_environment.h"
#include "task.h"
#include "tessera/array/arriving_text.h"
#include "tessera/array/buffer.h"

namespace tessera {

/// One task at a time.
class RequestReader {
 public:
  /// What reading a request came to.
  enum class Outcome {
    kRequest,
    kClosed,   ///< there is none, or no whole one, and will be none
    kRefused,  ///< it is to be answered by take_refusal(), and the connection to be closed
  };

  /// Both outlive the reader.
  RequestReader(Connection& connection, SessionEnvironment& environment)
      : connection_(connection), environment_(environment), held_(environment.bodies) {}

  /// Reads the next request. Asks the service whether to refuse one whose body is large or awaited.
  [[nodiscard]] Task<Outcome> read();
  /// The head of the request that was read last, if it had a good one. Borrows, with the body in it, from this.
  [[nodiscard]] const RequestHead* head() const { return has_head_ ? &head_ : nullptr; }
  [[nodiscard]] Response take_refusal() { return std::move(refusal_); }
  /// What is known of the request that is read or was read last; without an id if none has begun.
  [[nodiscard]] RequestReport& report() { return report_; }
  /// Begins the report of a request whose first byte came at that time, or that is answered before one came.
  void begin_report(Clock::Instant began);

  /// Gives the memory of a large body back before its request is finished.
  void drop_body();
  /// Ends the request: its memory is used for the next.
  void finish();
  /// Whether bytes of a further request are here already.
  [[nodiscard]] bool has_more() const { return !input_.is_empty(); }

 private:
  [[nodiscard]] Task<Outcome> read_head();
  [[nodiscard]] Task<bool> wait_for_head(std::optional<Clock::Instant>& deadline);
  [[nodiscard]] Outcome take_head(const HeadScanner& scanner);
  void complete_head();
  [[nodiscard]] Task<Outcome> read_body();
  [[nodiscard]] Task<Outcome> read_short_body(std::size_t length);
  [[nodiscard]] Task<Outcome> read_long_body(std::size_t length);
  void set_head_apart();
  [[nodiscard]] Task<Outcome> read_chunked_body();
  [[nodiscard]] ArrivingText* begin_long_body(std::size_t size);
  [[nodiscard]] bool append_to_body(std::size_t filled, std::string_view data);
  [[nodiscard]] bool is_refused_unread();
  [[nodiscard]] Outcome refuse(Response response, Limit limit = Limit::kNone);
  [[nodiscard]] Outcome refuse_head(HeadScanner::Found found);
  [[nodiscard]] Outcome refuse_long_head(bool has_request_line);
  [[nodiscard]] Outcome refuse_long_body(const std::string& what);
  [[nodiscard]] Outcome refuse_for_all_bodies(const std::string& what);
  [[nodiscard]] Outcome refuse_for_now(std::uint64_t more_bytes);

  Connection& connection_;
  SessionEnvironment& environment_;
  InputBuffer input_;
  bool is_first_ = true;

  RequestHead head_;
  bool has_head_ = false;
  std::string head_copy_;       // of a chunked or huge request, whose bytes make room for its body
  std::size_t used_bytes_ = 0;  // of input_, that belong to the request
  std::optional<ArrivingText> long_body_;
  Buffer chunked_body_;
  HeldBodyBytes held_;  // wherever they are
  Response refusal_;
  std::uint64_t body_bytes_ = 0;  // of the request, that have come
  RequestReport report_;
  RequestId made_id_;
};

}  // namespace tessera
