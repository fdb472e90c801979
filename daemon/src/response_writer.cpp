#include "response_writer.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "response_head.h"
#include "tessera/array/buffer.h"

namespace tessera {
namespace {

// Answers up to this are copied behind their head and sent with it at once.
constexpr std::size_t kSmallAnswerBytes = std::size_t{16} << 10;
// Stays in the caches between its encoding and its sending.
constexpr std::size_t kPieceBytes = std::size_t{256} << 10;

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

ConnectionNote note_of(const RequestHead* head, bool is_kept) {
  if (!is_kept) {
    return ConnectionNote::kClose;
  }
  return head->is_http_1_0 ? ConnectionNote::kKeepAlive : ConnectionNote::kNone;
}

// Returns whether all of it was sent.
Task<bool> send_large(Connection& connection, const Clock& clock, std::string_view head, const Body& body,
                      RequestTimes& times) {
  const Buffer scratch = Buffer::allocate(kPieceBytes);
  Body::Cursor cursor(body);
  bool is_sent = true;
  std::string_view piece = view_of(cursor.next(scratch.bytes()));
  while (is_sent && !piece.empty()) {
    times.end(RequestPart::kEncode, clock.now());
    is_sent = co_await connection.send(head, piece);
    times.end(RequestPart::kSend, clock.now());
    head = {};
    piece = view_of(cursor.next(scratch.bytes()));
  }
  co_return is_sent;
}

}  // namespace

Task<bool> send_response(Connection& connection, const SessionEnvironment& environment, const RequestHead* head,
                         Response response, RequestReport& report) {
  const bool is_kept = head != nullptr && head->keep_alive && !response.close && !environment.is_stopping;
  const bool is_for_head = head != nullptr && head->request.method == "HEAD";
  const bool has_body = !response.without_body && !is_for_head && !is_bodiless(response.status);
  const bool is_small = has_body && response.body.size_bytes() <= kSmallAnswerBytes;
  std::string text;
  text.reserve(512 + (is_small ? static_cast<std::size_t>(response.body.size_bytes()) : 0));
  append_head(text, response, report.id, note_of(head, is_kept), environment.clock.wall_now());
  report.status = response.status;
  if (is_small) {
    append_whole(text, response.body);
  }
  environment.service.answering(report);
  const std::uint64_t sent_before = connection.sent_bytes();
  if (has_body && !is_small) {
    report.is_sent = co_await send_large(connection, environment.clock, text, response.body, report.times);
  } else {
    report.times.end(RequestPart::kEncode, environment.clock.now());
    report.is_sent = co_await connection.send(text, {});
    report.times.end(RequestPart::kSend, environment.clock.now());
  }
  report.sent_bytes = connection.sent_bytes() - sent_before;
  if (!report.is_sent && response.when_not_sent) {
    response.when_not_sent();
  }
  co_return report.is_sent&& is_kept;
}

}  // namespace tessera
