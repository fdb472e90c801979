#include "answers.h"

#include <utility>
#include <vector>

#include "content_type.h"
#include "html.h"
#include "request_target.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/utf8.h"
#include "tessera/tesseract/call.h"
#include "tessera/tesseract/problem.h"

namespace tessera {
namespace {

constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr const char* kHtml = "text/html; charset=utf-8";

// Of the text of an exception in an answer. Clients show it; nobody reads on.
constexpr std::size_t kMaxTextBytes = std::size_t{64} << 10;

/// The text as UTF-8, its end cut off if it is very long.
std::string shown_part(const std::string& text) {
  if (text.size() <= kMaxTextBytes) {
    return replaced_utf8(text);
  }
  return replaced_utf8(text.substr(0, kMaxTextBytes)) + "… (" + std::to_string(text.size() - kMaxTextBytes) +
         " bytes more)";
}

/// What Python would print for an exception that nobody caught.
std::string traceback(const EndpointFailure& failure, std::string_view where) {
  std::string text = "Traceback (most recent call last):\n  ";
  text.append(where).append("\n").append(failure.kind);
  if (!failure.text.empty()) {
    text.append(": ").append(shown_part(failure.text));
  }
  return text;
}

// A 422 has a list of items, whoever answers it: clients read nothing else.
Response asked_for_422(const EndpointFailure& failure) {
  Problem problem;
  problem.kind = Problem::Kind::kValueError;
  problem.place = {"body"};
  problem.text = shown_part(failure.text);
  return json_answer(422, problems_to_json({problem}));
}

}  // namespace

Response json_answer(int status, std::string json) {
  Response response;
  response.status = status;
  response.body = Body(std::move(json));
  return response;
}

Response text_answer(int status, std::string content_type, std::string text) {
  Response response = json_answer(status, std::move(text));
  response.content_type = std::move(content_type);
  return response;
}

Response detail_answer(int status, std::string_view detail) {
  std::string json = R"({"detail":)";
  append_json_text(json, detail);
  return json_answer(status, json + "}");
}

Response method_not_allowed(std::string_view allow) {
  Response response = detail_answer(405, "Method Not Allowed");
  response.headers.emplace_back("Allow", allow);
  return response;
}

Response redirect_answer(const Request& request, std::string_view path) {
  std::string location;
  if (request.host) {
    location.append("http://").append(*request.host);
  }
  location.append(path);
  const std::string_view query = split_target(request.target).query;
  if (!query.empty()) {
    location.append("?").append(query);
  }
  Response response;
  response.status = 307;
  response.content_type.clear();
  response.headers.emplace_back("Location", std::move(location));
  return response;
}

Response unreadable_body() {
  return detail_answer(400, "There was an error parsing the body");
}

std::optional<Response> refuse_content_type(const Request& request) {
  if (request.body.is_empty() || is_called_json(request.content_type)) {
    return std::nullopt;
  }
  return json_answer(422, problems_to_json(not_called_json(request.body.whole())));
}

Response bad_run_id(std::string_view run_id, std::string_view why) {
  Problem problem;
  problem.kind = Problem::Kind::kValueError;
  problem.place = {"query", "run_id"};
  problem.text = why;
  problem.input_text = run_id;
  problem.input_is_text = true;
  return json_answer(422, problems_to_json({problem}));
}

Response failure_answer(const EndpointFailure& failure, std::string_view where, bool debug,
                        std::optional<std::string_view> accept) {
  if (failure.status == 422) {
    return asked_for_422(failure);
  }
  if (failure.status) {
    return detail_answer(*failure.status, shown_part(failure.text));
  }
  if (!debug) {
    return text_answer(500, kPlainText, "Internal Server Error");
  }
  const std::string text = traceback(failure, where);
  if (!accept || accept->find("text/html") == std::string_view::npos) {
    return text_answer(500, kPlainText, text);
  }
  // Plain tags: clients look for `<html>`.
  const std::string title =
      html_escaped(failure.text.empty() ? failure.kind : failure.kind + ": " + shown_part(failure.text));
  return text_answer(500, kHtml,
                     "<html>\n<head><meta charset=\"utf-8\"><title>500 " + title + "</title></head>\n<body>\n<h1>" +
                         title + "</h1>\n<pre>" + html_escaped(text) + "</pre>\n</body>\n</html>\n");
}

}  // namespace tessera
