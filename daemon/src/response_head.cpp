#include "response_head.h"

#include <array>
#include <chrono>
#include <ctime>
#include <utility>

namespace tessera {
namespace {

std::string_view reason_of(int status) {
  static constexpr auto kReasons = std::to_array<std::pair<int, std::string_view>>({
      {200, "OK"},
      {201, "Created"},
      {202, "Accepted"},
      {204, "No Content"},
      {304, "Not Modified"},
      {307, "Temporary Redirect"},
      {400, "Bad Request"},
      {401, "Unauthorized"},
      {403, "Forbidden"},
      {404, "Not Found"},
      {405, "Method Not Allowed"},
      {406, "Not Acceptable"},
      {408, "Request Timeout"},
      {409, "Conflict"},
      {410, "Gone"},
      {413, "Request Entity Too Large"},
      {414, "Request-URI Too Long"},
      {415, "Unsupported Media Type"},
      {418, "I'm a Teapot"},
      {422, "Unprocessable Entity"},
      {423, "Locked"},
      {424, "Failed Dependency"},
      {429, "Too Many Requests"},
      {431, "Request Header Fields Too Large"},
      {500, "Internal Server Error"},
      {501, "Not Implemented"},
      {502, "Bad Gateway"},
      {503, "Service Unavailable"},
      {504, "Gateway Timeout"},
      {507, "Insufficient Storage"},
  });
  for (const auto& [known, reason] : kReasons) {
    if (known == status) {
      return reason;
    }
  }
  return "";
}

void append_two_digits(std::string& text, int number) {
  text += static_cast<char>('0' + number / 10);
  text += static_cast<char>('0' + number % 10);
}

// `Sun, 06 Nov 1994 08:49:37 GMT`; written by hand, because strftime(3) follows the locale of the process.
std::string http_date(std::time_t time) {
  static constexpr std::array<std::string_view, 7> kDays{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                            "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) {
    return "Thu, 01 Jan 1970 00:00:00 GMT";
  }
  std::string text{kDays[static_cast<std::size_t>(parts.tm_wday)]};
  text += ", ";
  append_two_digits(text, parts.tm_mday);
  text += ' ';
  text += kMonths[static_cast<std::size_t>(parts.tm_mon)];
  text += ' ';
  text += std::to_string(parts.tm_year + 1900);
  text += ' ';
  append_two_digits(text, parts.tm_hour);
  text += ':';
  append_two_digits(text, parts.tm_min);
  text += ':';
  append_two_digits(text, parts.tm_sec);
  text += " GMT";
  return text;
}

// Made once a second and thread, because it costs more than the rest of the head.
const std::string& current_http_date(Clock::WallTime now) {
  thread_local std::time_t cached_time = -1;
  thread_local std::string cached_text;
  const std::time_t time = std::chrono::system_clock::to_time_t(now);
  if (time != cached_time) {
    cached_text = http_date(time);
    cached_time = time;
  }
  return cached_text;
}

void append_header(std::string& text, std::string_view name, std::string_view value) {
  text += name;
  text += ": ";
  text += value;
  text += "\r\n";
}

}  // namespace

void append_head(std::string& text, const Response& response, std::string_view request_id, ConnectionNote note,
                 Clock::WallTime now) {
  text += "HTTP/1.1 ";
  text += std::to_string(response.status);
  text += ' ';
  text += reason_of(response.status);
  text += "\r\n";
  append_header(text, "date", current_http_date(now));
  append_header(text, "server", "tessera/" TESSERA_VERSION);
  append_header(text, "x-request-id", request_id);
  if (!is_bodiless(response.status)) {
    append_header(text, "content-length", std::to_string(response.body.size_bytes()));
    if (!response.content_type.empty()) {
      append_header(text, "content-type", response.content_type);
    }
  }
  for (const auto& [name, value] : response.headers) {
    append_header(text, name, value);
  }
  if (note != ConnectionNote::kNone) {
    append_header(text, "connection", note == ConnectionNote::kClose ? "close" : "keep-alive");
  }
  text += "\r\n";
}

bool is_bodiless(int status) {
  return status == 204 || status == 304;
}

Response make_refusal(int status, std::string_view detail) {
  Response response;
  response.status = status;
  response.body.append(R"({"detail":")");
  response.body.append(detail);
  response.body.append(R"("})");
  response.close = true;
  if (status == 503) {
    response.headers.emplace_back("retry-after", "1");
  }
  return response;
}

Response make_bad_request() {
  Response response;
  response.status = 400;
  response.content_type = "text/plain; charset=utf-8";
  response.body.append("Invalid HTTP request received.");
  response.close = true;
  return response;
}

Response make_internal_error() {
  Response response;
  response.status = 500;
  response.content_type = "text/plain; charset=utf-8";
  response.body.append("Internal Server Error");
  response.close = true;
  return response;
}

}  // namespace tessera
