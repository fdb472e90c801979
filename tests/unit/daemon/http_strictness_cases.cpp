#include "http_strictness_cases.h"

#include <ostream>
#include <string_view>
#include <utility>

namespace tessera {
namespace {

using Then = StrictnessCase::Then;
using namespace std::string_literals;

StrictnessCase good(std::string name, std::string bytes, std::string words) {
  return {.name = std::move(name),
          .bytes = std::move(bytes),
          .status = 200,
          .then = Then::kKept,
          .words = std::move(words),
          .good_requests = 1};
}

StrictnessCase good_and_last(std::string name, std::string bytes, std::string words) {
  StrictnessCase expected = good(std::move(name), std::move(bytes), std::move(words));
  expected.then = Then::kClosed;
  return expected;
}

StrictnessCase refused(int status, std::string name, std::string bytes, std::string words) {
  return {.name = std::move(name), .bytes = std::move(bytes), .status = status, .words = std::move(words)};
}

StrictnessCase bad(std::string name, std::string bytes) {
  return refused(400, std::move(name), std::move(bytes), "Invalid HTTP request received.");
}

// A good request, then one that is refused.
StrictnessCase good_then_bad(std::string name, std::string bytes) {
  StrictnessCase expected = bad(std::move(name), std::move(bytes));
  expected.good_requests = 1;
  expected.answers = 2;
  return expected;
}

StrictnessCase two_good(std::string name, std::string bytes, std::string words) {
  StrictnessCase expected = good(std::move(name), std::move(bytes), std::move(words));
  expected.good_requests = expected.answers = 2;
  return expected;
}

// Requests with all that is needed but for what a case is about.
std::string line(std::string_view request_line) {
  return std::string(request_line) + "\r\nHost: x\r\n\r\n";
}

std::string header(std::string_view headers) {
  return "GET /health HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n\r\n";
}

std::string host(std::string_view host_lines) {
  return "GET /headers HTTP/1.1\r\n" + std::string(host_lines) + "\r\n\r\n";
}

std::string body(std::string_view headers, std::string_view text) {
  return "POST /echo HTTP/1.1\r\nHost: x\r\n" + std::string(headers) + "\r\n\r\n" + std::string(text);
}

std::string chunked(std::string_view text) {
  return body("Transfer-Encoding: chunked", text);
}

std::string many_headers(int count) {
  std::string headers;
  for (int i = 1; i < count; ++i) {
    headers += "X-" + std::to_string(i) + ": y\r\n";
  }
  return "GET /health HTTP/1.1\r\n" + headers + "Host: x\r\n\r\n";
}

void add_request_lines(std::vector<StrictnessCase>& cases) {
  cases.insert(cases.end(),
               {good("a plain GET", line("GET /health HTTP/1.1"), "ok"),
                good("a method that nobody knows is the service's", line("BREW /health HTTP/1.1"), "ok"),
                bad("a method in lower case", line("get /health HTTP/1.1")),
                bad("a method with one small letter", line("GEt /health HTTP/1.1")),
                bad("a method with a parenthesis", line("GE(T /health HTTP/1.1")),
                bad("a method with a NUL", line("GE\0T /health HTTP/1.1"s)),
                bad("no method", line(" /health HTTP/1.1")),
                bad("no target", line("GET HTTP/1.1")),
                bad("an empty target", line("GET  HTTP/1.1")),
                bad("two spaces before the target", line("GET  /health HTTP/1.1")),
                bad("two spaces behind the target", line("GET /health  HTTP/1.1")),
                bad("a space behind the version", line("GET /health HTTP/1.1 ")),
                bad("a tab before the target", line("GET\t/health HTTP/1.1")),
                bad("a tab behind the target", line("GET /health\tHTTP/1.1")),
                bad("a space in the target", line("GET /hea lth HTTP/1.1")),
                bad("a bare CR in the request line", line("GET /health\r HTTP/1.1")),
                bad("a bare CR behind the version", line("GET /health HTTP/1.1\rX: y")),
                bad("a bare LF behind the request line", "GET /health HTTP/1.1\nHost: x\r\n\r\n"),
                bad("an empty line first", "\r\n" + line("GET /health HTTP/1.1")),
                bad("a bare LF first", "\n" + line("GET /health HTTP/1.1")),
                bad("a greeting of TLS", "\x16\x03\x01\x02"),
                bad("words", "how are you?\r\n"),
                bad("HTTP/0.9", "GET /health\r\n"),
                bad("HTTP/0.9 that says so", line("GET /health HTTP/0.9")),
                good_and_last("HTTP/1.0", line("GET /health HTTP/1.0"), "ok"),
                good_and_last("HTTP/1.0 without a host", "GET /health HTTP/1.0\r\n\r\n", "ok"),
                good("HTTP/1.0 that asks to be kept", "GET /health HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "ok"),
                bad("HTTP/1.2", line("GET /health HTTP/1.2")),
                bad("HTTP/1.10", line("GET /health HTTP/1.10")),
                bad("HTTP/2.0", line("GET /health HTTP/2.0")),
                bad("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                bad("a version in lower case", line("GET /health http/1.1")),
                bad("a version with a word behind", line("GET /health HTTP/1.1x")),
                bad("another protocol", line("GET /health ICY/1.1"))});
}

void add_targets(std::vector<StrictnessCase>& cases) {
  cases.insert(
      cases.end(),
      {good("an absolute target, whose host counts", line("GET http://y:80/headers HTTP/1.1"), "y:80|none|"),
       good("an absolute target with its scheme in capitals", line("GET HTTP://y/headers HTTP/1.1"), "y|none|"),
       bad("an absolute target without a host header", "GET http://y/headers HTTP/1.1\r\n\r\n"),
       bad("an absolute target without a host", line("GET http:///health HTTP/1.1")),
       bad("an absolute target with a user", line("GET http://me@y/health HTTP/1.1")),
       bad("an absolute target of TLS", line("GET https://y/health HTTP/1.1")),
       bad("an authority target", line("GET x:80 HTTP/1.1")),
       bad("an authority target of CONNECT", line("CONNECT x:80 HTTP/1.1")),
       bad("a target without a slash", line("GET health HTTP/1.1")), bad("an asterisk for GET", line("GET * HTTP/1.1")),
       good("an asterisk for OPTIONS is the service's", line("OPTIONS * HTTP/1.1"), ""),
       bad("a NUL in the target", line("GET /hea\0lth HTTP/1.1"s)),
       bad("a control character in the target", line("GET /hea\x01lth HTTP/1.1")),
       bad("a DEL in the target", line("GET /hea\x7flth HTTP/1.1")),
       bad("bytes beyond ASCII in the target", line("GET /\xc3\xa4 HTTP/1.1"))});
}

void add_hosts(std::vector<StrictnessCase>& cases) {
  cases.insert(
      cases.end(),
      {bad("no host", "GET /health HTTP/1.1\r\n\r\n"), bad("two hosts", host("Host: x\r\nHost: y")),
       bad("the same host twice", host("Host: x\r\nHost: x")),
       bad("two hosts in HTTP/1.0", "GET /health HTTP/1.0\r\nHost: x\r\nHost: y\r\n\r\n"),
       good("an empty host", host("Host:"), "|none|"),
       good("a host with a port", host("Host: localhost:8000"), "localhost:8000|none|"),
       good("an address of IPv6", host("Host: [::1]:8000"), "[::1]:8000|none|"),
       bad("a host with a space", host("Host: x y")), bad("a host with a path", host("Host: x/health")),
       bad("a host with a user", host("Host: me@x")), bad("a host with a word for a port", host("Host: x:http")),
       bad("a host with two ports", host("Host: x:80:81")),
       bad("an address of IPv6 without brackets", host("Host: ::1")),
       bad("a host beyond ASCII", host("Host: \xc3\xa4"))});
}

void add_headers(std::vector<StrictnessCase>& cases) {
  cases.insert(cases.end(),
               {good("a header without a value", header("X-A:"), "ok"),
                good("a header without a space", header("X-A:b"), "ok"),
                good("spaces and tabs around a value", header("X-A: \t b \t "), "ok"),
                good("a tab in a value", header("X-A: b\tc"), "ok"),
                good("bytes beyond ASCII in a value", header("X-A: \xc3\xa4\xff"), "ok"),
                good("a header in odd case", "GET /headers HTTP/1.1\r\nhOST: x\r\naCCEPT: a/b\r\n\r\n", "x|none|a/b|"),
                bad("a header folded by a space", header("X-A: b\r\n c")),
                bad("a header folded by a tab", header("X-A: b\r\n\tc")),
                bad("a folded line of nothing", header("X-A: b\r\n ")),
                bad("a space before the first header", "GET /health HTTP/1.1\r\n Host: x\r\n\r\n"),
                bad("a header without a name", header(": b")),
                bad("a header without a colon", header("X-A b")),
                bad("a space before the colon", header("X-A : b")),
                bad("a tab before the colon", header("X-A\t: b")),
                bad("a space in a name", header("X A: b")),
                bad("a parenthesis in a name", header("X(A): b")),
                bad("a name in quotes", header("\"X-A\": b")),
                bad("a NUL in a name", header("X\0A: b"s)),
                bad("bytes beyond ASCII in a name", header("X-\xc3\xa4: b")),
                bad("a NUL in a value", header("X-A: b\0c"s)),
                bad("a control character in a value", header("X-A: b\x01")),
                bad("a DEL in a value", header("X-A: b\x7f")),
                bad("a bare CR in a value", header("X-A: b\rX-B: c")),
                bad("a CR before CR LF", header("X-A: b\r")),
                bad("a bare LF behind a header", header("X-A: b\nX-B: c")),
                bad("a bare LF at the end", "GET /health HTTP/1.1\r\nHost: x\r\n\n"),
                good_and_last("a client that asks to close", header("Connection: close"), "ok"),
                good_and_last("a client that asks in capitals", header("Connection: CLOSE"), "ok"),
                good_and_last("a client that asks in a list", header("Connection: x, close"), "ok"),
                good("an upgrade that is not made", header("Connection: Upgrade\r\nUpgrade: h2c"), "ok")});
}

void add_lengths(std::vector<StrictnessCase>& cases) {
  cases.insert(
      cases.end(),
      {good("a body of a length", body("Content-Length: 5", "hello"), "hello"),
       good("a length of 0", body("Content-Length: 0", ""), ""),
       good("a length with zeros before", body("Content-Length: 005", "hello"), "hello"),
       good("spaces around a length", body("Content-Length:  \t5 ", "hello"), "hello"),
       good("no length", body("X-A: b", ""), ""),
       good("a request in the body of a GET",
            "GET /health HTTP/1.1\r\nHost: x\r\nContent-Length: 33\r\n\r\n" + line("GET /health HTTP/1.1"), "ok"),
       bad("the same length twice", body("Content-Length: 5\r\nContent-Length: 5", "hello")),
       bad("two lengths", body("Content-Length: 5\r\nContent-Length: 6", "hello!")),
       bad("two lengths, the larger first", body("Content-Length: 6\r\nContent-Length: 5", "hello!")),
       bad("the same length twice in a list", body("Content-Length: 5, 5", "hello")),
       bad("two lengths in a list", body("Content-Length: 5, 6", "hello!")),
       bad("an empty length", body("Content-Length:", "hello")),
       bad("a negative length", body("Content-Length: -5", "hello")),
       bad("a length with a plus", body("Content-Length: +5", "hello")),
       bad("a length in hex", body("Content-Length: 0x5", "hello")),
       bad("a length with a fraction", body("Content-Length: 5.0", "hello")),
       bad("a length with a letter", body("Content-Length: 5a", "hello")),
       bad("a length with a space inside", body("Content-Length: 1 1", "hello worlds")),
       bad("a length in quotes", body("Content-Length: \"5\"", "hello")),
       bad("a length of 2^64", body("Content-Length: 18446744073709551616", "hello")),
       bad("a space between a length and its colon", body("Content-Length : 5", "hello")),
       bad("a folded length", body("Content-Length:\r\n 5", "hello")),
       refused(413, "a length beyond the limit", body("Content-Length: 1001", ""), "1001 bytes"),
       refused(413, "a length beyond the limit, part of it here", body("Content-Length: 1001", "hello"), "1000 bytes"),
       refused(413, "a length of 2^64 - 1", body("Content-Length: 18446744073709551615", "hello"),
               "18446744073709551615 bytes"),
       refused(413, "a length beyond the limit that awaits a word",
               body("Content-Length: 1001\r\nExpect: 100-continue", ""), "1001 bytes"),
       two_good("a body and a request behind it", body("Content-Length: 5", "hello") + line("GET /health HTTP/1.1"),
                "ok"),
       good_then_bad("a body longer than its length", body("Content-Length: 4", "hello\r\n"))});
}

void add_codings(std::vector<StrictnessCase>& cases) {
  const std::string hello = "5\r\nhello\r\n0\r\n\r\n";
  cases.insert(
      cases.end(),
      {good("a chunked body", chunked(hello), "hello"),
       good("a chunked body in odd case", body("transfer-ENCODING: CHUNKED", hello), "hello"),
       good("an underscore makes another header", body("Transfer_Encoding: chunked\r\nContent-Length: 5", "hello"),
            "hello"),
       bad("a length and chunks", body("Content-Length: 5\r\nTransfer-Encoding: chunked", hello)),
       bad("chunks and a length", body("Transfer-Encoding: chunked\r\nContent-Length: 5", hello)),
       bad("a length of 0 and chunks", body("Content-Length: 0\r\nTransfer-Encoding: chunked", hello)),
       bad("a request hidden behind a length",
           body("Content-Length: 5\r\nTransfer-Encoding: chunked", "0\r\n\r\n" + line("GET /health HTTP/1.1"))),
       bad("a request hidden behind chunks",
           body("Transfer-Encoding: chunked\r\nContent-Length: 4", "5c\r\n" + line("GET /health HTTP/1.1"))),
       bad("xchunked", body("Transfer-Encoding: xchunked", hello)),
       bad("xchunked and a length", body("Transfer-Encoding: xchunked\r\nContent-Length: 5", "hello")),
       bad("identity", body("Transfer-Encoding: identity", "hello")),
       bad("gzip", body("Transfer-Encoding: gzip", "hello")),
       bad("gzip, chunked", body("Transfer-Encoding: gzip, chunked", hello)),
       bad("chunked, gzip", body("Transfer-Encoding: chunked, gzip", hello)),
       bad("chunked, identity", body("Transfer-Encoding: chunked, identity", hello)),
       bad("chunked twice in a list", body("Transfer-Encoding: chunked, chunked", hello)),
       bad("chunked twice", body("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", hello)),
       bad("gzip, and chunked on a line of its own",
           body("Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked", hello)),
       bad("chunked, and x on a line of its own", body("Transfer-Encoding: chunked\r\nTransfer-Encoding: x", hello)),
       bad("no coding", body("Transfer-Encoding:", "hello")),
       bad("a comma and chunked", body("Transfer-Encoding: , chunked", hello)),
       bad("chunked with a parameter", body("Transfer-Encoding: chunked;q=1", hello)),
       bad("chunked in quotes", body("Transfer-Encoding: \"chunked\"", hello)),
       bad("a vertical tab before chunked", body("Transfer-Encoding: \x0b"
                                                 "chunked",
                                                 hello)),
       bad("a NUL behind chunked", body("Transfer-Encoding: chunked\0"s, hello)),
       bad("a space between chunked and its colon", body("Transfer-Encoding : chunked", hello)),
       bad("a folded coding", body("Transfer-Encoding:\r\n chunked", hello)),
       bad("chunks in HTTP/1.0",
           "POST /echo HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n" + hello)});
}

void add_chunks(std::vector<StrictnessCase>& cases) {
  const std::string end = "\r\nhello\r\n0\r\n\r\n";
  const std::string many(20'000, 'a');
  cases.insert(cases.end(),
               {good("a chunk whose size has zeros before", chunked("0005" + end), "hello"),
                good("a size in capitals", chunked("A\r\n0123456789\r\n0\r\n\r\n"), "0123456789"),
                good("several zeros for the last chunk", chunked("5\r\nhello\r\n000\r\n\r\n"), "hello"),
                good("a chunk with an extension", chunked("5;a=b" + end), "hello"),
                good("a chunk with an extension in quotes", chunked("5;a=\"b;c\"" + end), "hello"),
                good("spaces around an extension", chunked("5 ; a = b" + end), "hello"),
                good("spaces behind a size", chunked("5 \t" + end), "hello"),
                good("an extension of the last chunk", chunked("5\r\nhello\r\n0;a\r\n\r\n"), "hello"),
                good("trailers", chunked("5\r\nhello\r\n0\r\nA: b\r\nContent-Length: 7\r\n\r\n"), "hello"),
                two_good("chunks and a request behind them", chunked("5" + end) + line("GET /health HTTP/1.1"), "ok"),
                good_then_bad("chunks and rubbish behind them", chunked("5" + end) + "0\r\n\r\n"),
                bad("an empty size", chunked(end)),
                bad("a negative size", chunked("-5" + end)),
                bad("a size with a plus", chunked("+5" + end)),
                bad("a size with 0x", chunked("0x5" + end)),
                bad("a size that is no number", chunked("g" + end)),
                bad("a space before a size", chunked(" 5" + end)),
                bad("two sizes", chunked("5 5" + end)),
                bad("a size and a word", chunked("5 a" + end)),
                bad("a size and a comma", chunked("5,a" + end)),
                bad("a size with a NUL", chunked("5\0"s + end)),
                bad("a bare LF behind a size", chunked("5\nhello\r\n0\r\n\r\n")),
                bad("a bare CR behind a size", chunked("5\rhello\r\n0\r\n\r\n")),
                bad("a bare LF in an extension", chunked("5;a\nb" + end)),
                bad("a bare CR in an extension", chunked("5;a\rb" + end)),
                bad("a NUL in an extension", chunked("5;a\0b"s + end)),
                bad("an extension without end", chunked("5;" + many + end)),
                bad("zeros without end", chunked(std::string(20'000, '0') + "5" + end)),
                bad("more data than the size says", chunked("4" + end)),
                bad("a bare LF behind the data", chunked("5\r\nhello\n0\r\n\r\n")),
                bad("a bare LF behind the last chunk", chunked("5\r\nhello\r\n0\r\n\n")),
                bad("a trailer without a colon", chunked("5\r\nhello\r\n0\r\nA\r\n\r\n")),
                bad("a trailer without a name", chunked("5\r\nhello\r\n0\r\n: b\r\n\r\n")),
                bad("a folded trailer", chunked("5\r\nhello\r\n0\r\nA: b\r\n c\r\n\r\n")),
                bad("a bare LF behind a trailer", chunked("5\r\nhello\r\n0\r\nA: b\n\r\n")),
                bad("trailers without end", chunked("5\r\nhello\r\n0\r\nA: " + many + "\r\n\r\n")),
                refused(413, "a chunk beyond the limit", chunked("3e9\r\n"), "1000 bytes"),
                refused(413, "chunks beyond the limit", chunked("5\r\nhello\r\n3e4\r\n"), "1000 bytes"),
                refused(413, "a size of 2^64 - 1", chunked("ffffffffffffffff\r\n"), "1000 bytes"),
                refused(413, "a size beyond 64 bits", chunked("10000000000000005" + end), "1000 bytes")});
}

void add_limits(std::vector<StrictnessCase>& cases) {
  constexpr std::size_t kLimit = 65536;
  const std::string method = "GET /";
  const std::string version = " HTTP/1.1";
  const std::string path(kLimit - method.size() - version.size(), 'a');
  const auto filler = [](std::string_view name, std::size_t size) {
    return std::string(name) + ": " + std::string(size, 'a') + "\r\n";
  };
  cases.insert(cases.end(),
               {good("a request line as long as may be", line(method + path + version), ""),
                refused(414, "a request line of a byte more", line(method + path + "a" + version), "65536 bytes"),
                refused(414, "a request line without end", "GET /" + std::string(200'000, 'a'), "65536 bytes"),
                good("a header as long as may be", header("X-A:" + std::string(kLimit, 'a')), "ok"),
                refused(431, "a header of a byte more", header("X-A:" + std::string(kLimit + 1, 'a')),
                        "a header is longer than 65536 bytes"),
                refused(431, "a name of a header without end", header(std::string(100'000, 'a')),
                        "a header is longer than 65536 bytes"),
                good("headers as long as may be",
                     header(filler("X-A", 60'000) + filler("X-B", 60'000) + "X-C: " + std::string(11'000, 'a')), "ok"),
                refused(431, "longer headers than may be",
                        header(filler("X-A", 60'000) + filler("X-B", 60'000) + "X-C: " + std::string(12'000, 'a')),
                        "the headers are longer than 131072 bytes"),
                good("as many headers as may be", many_headers(256), "ok"),
                refused(431, "a header more", many_headers(257), "there are more than 256 headers"),
                refused(431, "many headers", many_headers(5000), "there are more than 256 headers")});
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const StrictnessCase& shown) {
  return out << shown.name;
}

std::vector<StrictnessCase> strictness_cases() {
  std::vector<StrictnessCase> cases;
  add_request_lines(cases);
  add_targets(cases);
  add_hosts(cases);
  add_headers(cases);
  add_lengths(cases);
  add_codings(cases);
  add_chunks(cases);
  add_limits(cases);
  return cases;
}

}  // namespace tessera
