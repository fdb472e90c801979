#include "request_head.h"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <limits>
#include <utility>  // Boost 1.74 needs it first.

#include "host.h"
#include "request_target.h"
#include "tessera/base/ascii.h"

namespace tessera {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

std::string_view view_of(beast::string_view text) {
  return {text.data(), text.size()};
}

// Beast's parser without its storage of fields: it checks the grammar, and this picks what is asked for.
class HeadParser final : public http::basic_parser<true> {
 public:
  [[nodiscard]] RequestHead& head() { return head_; }
  /// Whether it is certain where the body ends: there is one length, or one coding, chunked.
  [[nodiscard]] bool is_body_certain() const {
    return lengths_ <= 1 && codings_ <= 1 && !has_other_coding_ && (lengths_ == 0 || codings_ == 0);
  }

 private:
  using Code = beast::error_code;
  using Text = beast::string_view;

  void on_request_impl(http::verb /*verb*/, Text method, Text target, int version, Code& error) override {
    // Beast takes bytes beyond ASCII; a target has none (RFC 3986), and upstream refuses them.
    if (std::ranges::any_of(target, [](char c) { return static_cast<unsigned char>(c) > '~'; }) ||
        !is_request_target(view_of(method), view_of(target))) {
      error = http::make_error_code(http::error::bad_target);
    }
    // Names of methods are capitals; whoever takes `get` for GET somewhere on the way sees another request than we do.
    if (std::ranges::any_of(method, [](char c) { return c >= 'a' && c <= 'z'; })) {
      error = http::make_error_code(http::error::bad_method);
    }
    head_.request.method = view_of(method);
    head_.request.target = view_of(target);
    head_.is_http_1_0 = version == 10;
  }

  void on_field_impl(http::field name, Text name_text, Text value, Code& error) override {
    Request& request = head_.request;
    switch (name) {
      case http::field::host:
        if (request.host.has_value() || !is_host(view_of(value))) {
          error = http::make_error_code(http::error::bad_field);
        }
        request.host = view_of(value);
        return;
      case http::field::content_type:
        keep_first(request.content_type, value);
        return;
      case http::field::accept:
        keep_first(request.accept, value);
        return;
      case http::field::content_length:
        // Beast takes a list of equal ones for one.
        if (!std::ranges::all_of(value, tessera::is_digit)) {
          error = http::make_error_code(http::error::bad_content_length);
        }
        ++lengths_;
        return;
      case http::field::transfer_encoding:
        ++codings_;
        has_other_coding_ = has_other_coding_ || !beast::iequals(value, "chunked");
        return;
      case http::field::expect:
        head_.awaits_continue = beast::iequals(value, "100-continue");
        return;
      case http::field::unknown:
        if (beast::iequals(name_text, "tesseract-exports-done")) {
          keep_first(request.exports_done, value);
        } else if (beast::iequals(name_text, "x-request-id")) {
          keep_first(request.request_id, value);
        }
        return;
      default:
        return;
    }
  }

  static void keep_first(std::optional<std::string_view>& kept, Text value) {
    if (!kept.has_value()) {
      kept = view_of(value);
    }
  }

  void on_header_impl(Code& /*error*/) override {}
  void on_finish_impl(Code& /*error*/) override {}
  // Bodies are read elsewhere, and responses do not come here.
  void on_response_impl(int /*code*/, Text /*reason*/, int /*version*/, Code& /*error*/) override {}
  void on_body_init_impl(const boost::optional<std::uint64_t>& /*length*/, Code& /*error*/) override {}
  std::size_t on_body_impl(Text /*text*/, Code& /*error*/) override { return 0; }
  void on_chunk_header_impl(std::uint64_t /*size*/, Text /*extensions*/, Code& /*error*/) override {}
  std::size_t on_chunk_body_impl(std::uint64_t /*remain*/, Text /*text*/, Code& /*error*/) override { return 0; }

  RequestHead head_;
  int lengths_ = 0;
  int codings_ = 0;
  bool has_other_coding_ = false;
};

/// Whether a name or a value of a header line is longer than this. A line without a colon may be the begin of a name.
bool has_part_longer_than(std::string_view line, std::size_t limit) {
  if (line.size() <= limit) {
    return false;
  }
  const std::size_t name_bytes = std::min(line.find(':'), line.size());
  return name_bytes > limit || line.size() - name_bytes > limit + 1;
}

}  // namespace

// Says the same of a line that is not complete yet as of the whole: what is too long stays so.
HeadScanner::Found HeadScanner::judge_length(std::string_view line) const {
  if (line_begin_ == 0) {
    return line.size() > limits_.request_line_bytes ? Found::kLongRequestLine : Found::kNothingYet;
  }
  return has_part_longer_than(line, limits_.header_value_bytes) ? Found::kLongHeader : Found::kNothingYet;
}

HeadScanner::Found HeadScanner::scan(std::string_view bytes) {
  if (line_begin_ == 0 && !bytes.empty() && static_cast<unsigned char>(bytes.front()) <= ' ') {
    return Found::kBad;
  }
  while (true) {
    const std::size_t newline = bytes.find('\n', searched_);
    const bool is_complete = newline != std::string_view::npos;
    std::string_view line = bytes.substr(line_begin_, (is_complete ? newline : bytes.size()) - line_begin_);
    const bool ends_with_return = line.ends_with('\r');
    line.remove_suffix(ends_with_return ? 1 : 0);
    if (const Found found = judge_length(line); found != Found::kNothingYet) {
      return found;
    }
    if (!is_complete) {
      searched_ = bytes.size();
      return Found::kNothingYet;
    }
    if (!ends_with_return) {
      return Found::kBad;
    }
    const bool is_first = line_begin_ == 0;
    line_begin_ = searched_ = newline + 1;
    if (is_first && line.find(" HTTP/1.") == std::string_view::npos) {
      return Found::kBad;
    }
    if (line.empty()) {
      return Found::kEnd;
    }
    if (line.front() == ' ' || line.front() == '\t') {
      return Found::kBad;
    }
    if (!is_first && ++headers_ > limits_.headers) {
      return Found::kTooManyHeaders;
    }
  }
}

std::optional<RequestHead> parse_head(std::string_view head) {
  HeadParser parser;
  // Limits are the caller's; without one Beast 1.74 takes every body for too large.
  parser.header_limit(std::numeric_limits<std::uint32_t>::max());
  parser.body_limit(std::numeric_limits<std::uint64_t>::max());
  beast::error_code error;
  const std::size_t used = parser.put({head.data(), head.size()}, error);
  if (error || used != head.size() || !parser.is_header_done()) {
    return std::nullopt;
  }
  RequestHead& result = parser.head();
  if (!result.is_http_1_0 && !result.request.host.has_value()) {
    return std::nullopt;
  }
  if (!parser.is_body_certain() || (parser.chunked() && result.is_http_1_0)) {
    return std::nullopt;
  }
  if (const std::optional<std::string_view> host = host_of_target(result.request.target)) {
    result.request.host = host;
  }
  if (parser.chunked()) {
    result.framing = RequestHead::Framing::kChunked;
  } else if (const auto length = parser.content_length(); length.has_value() && *length > 0) {
    result.framing = RequestHead::Framing::kLength;
    result.content_length = *length;
  }
  result.keep_alive = parser.keep_alive();
  result.awaits_continue = result.awaits_continue && !result.is_http_1_0;
  return result;
}

}  // namespace tessera
