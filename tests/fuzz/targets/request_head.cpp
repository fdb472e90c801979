// Heads of requests: where they end, in one piece and in pieces; and what they say.
#include "request_head.h"

#include <algorithm>
#include <string>

#include "input.h"
#include "targets.h"

namespace tessera::fuzzing {
namespace {

using Found = HeadScanner::Found;

bool lies_in(std::string_view part, std::string_view whole) {
  return part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size();
}

bool has_line_end(std::string_view text) {
  return text.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos;
}

void check_head(const RequestHead& head, std::string_view text) {
  const Request& request = head.request;
  require(!request.method.empty() && !request.target.empty(), "a request has a method and a target");
  require(lies_in(request.method, text) && lies_in(request.target, text), "a request borrows its head");
  require(std::ranges::all_of(request.target, [](char c) { return c > ' ' && c <= '~'; }), "a target is ASCII");
  require(head.is_http_1_0 || request.host.has_value(), "HTTP/1.1 names a host");
  for (const auto& value : {request.host, request.content_type, request.accept, request.exports_done}) {
    require(!value.has_value() || value->empty() || lies_in(*value, text), "values borrow the head");
    require(!has_line_end(value.value_or("")), "a value is one line");
  }
  require((head.framing == RequestHead::Framing::kLength) == (head.content_length > 0), "a length is one framing");
  require(head.framing != RequestHead::Framing::kChunked || !head.is_http_1_0, "HTTP/1.0 has no chunks");
}

}  // namespace

void fuzz_request_head(std::string_view bytes) {
  Input input(bytes);
  const std::size_t piece = 1U + input.byte();
  const std::string_view text = input.rest();
  HeadScanner whole;
  const Found found = whole.scan(text);
  HeadScanner pieces;
  Found found_in_pieces = Found::kNothingYet;
  for (std::size_t end = piece; found_in_pieces == Found::kNothingYet; end += piece) {
    found_in_pieces = pieces.scan(text.substr(0, end));
    if (end >= text.size()) {
      break;
    }
  }
  require(found == found_in_pieces, "pieces say what the whole says");
  if (found != Found::kEnd) {
    return;
  }
  require(whole.size_bytes() == pieces.size_bytes(), "a head ends where it ends");
  const std::string_view head = text.substr(0, whole.size_bytes());
  require(head.ends_with("\r\n\r\n"), "a head ends with an empty line");
  if (const std::optional<RequestHead> parsed = parse_head(head)) {
    check_head(*parsed, head);
  }
}

}  // namespace tessera::fuzzing
