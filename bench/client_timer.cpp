// Times a call of `identity` with one float32 array in base64, again and again, by one of several HTTP clients, and
// prints the figures as JSON.
//
//   tessera_client_timer (sdk|httplib|beast|raw) PORT|SOCKET ELEMENTS COUNT
//   tessera_client_timer (shared|each) PORT|SOCKET THREADS CALLS
//
// `sdk` encodes and decodes the array; the others send bytes that are ready and take the answer's bytes as they come:
// what a call costs at least with that library, and (raw) with none. `shared` has many threads make small calls by one
// client of the SDK, `each` by one of their own.

#include <httplib.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tessera/sdk/tesseract.h"

namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;

bool is_socket_path(const std::string& place) {
  return place.starts_with('/');
}

// Connects a socket of the kernel's.
int connected_socket(const std::string& place) {
  sockaddr_storage where{};
  socklen_t size = 0;
  if (is_socket_path(place)) {
    auto& address = reinterpret_cast<sockaddr_un&>(where);
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, place.data(), std::min(place.size(), sizeof address.sun_path - 1));
    size = sizeof address;
  } else {
    auto& address = reinterpret_cast<sockaddr_in&>(where);
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(std::stoi(place)));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    size = sizeof address;
  }
  const int descriptor = socket(where.ss_family, SOCK_STREAM, 0);
  if (descriptor < 0 || connect(descriptor, reinterpret_cast<const sockaddr*>(&where), size) != 0) {
    throw std::runtime_error("cannot connect to " + place);
  }
  const int on = 1;
  setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return descriptor;
}

// The body of a call: zeros in base64.
std::string body_of(std::size_t elements) {
  const std::size_t bytes = elements * sizeof(float);
  std::string text((bytes + 2) / 3 * 4, 'A');
  const std::size_t padding = (3 - bytes % 3) % 3;
  text.replace(text.size() - padding, padding, padding, '=');
  return R"({"inputs":{"x":{"object_type":"array","shape":[)" + std::to_string(elements) +
         R"(],"dtype":"float32","data":{"buffer":")" + text + R"(","encoding":"base64"}}}})";
}

std::string url_of(const std::string& place) {
  return is_socket_path(place) ? "unix:" + place : "http://127.0.0.1:" + place;
}

constexpr const char* kAccept = "application/json+base64";
constexpr const char* kType = "application/json";

std::function<void()> sdk_call(const std::string& place, std::size_t elements) {
  const auto tesseract = tessera::Tesseract::from_url(url_of(place))
                             .with_encoding({.output_format = "json+base64", .gpu_transport = "none"});
  const auto x = tessera::Array::zeros(tessera::DType::kFloat32, {static_cast<std::int64_t>(elements)});
  return [tesseract, x] {
    const tessera::Value result = tesseract.apply({{"x", x}});
    if (result.object().at("x").array().size() != x.size()) {
      throw std::runtime_error("a wrong answer");
    }
  };
}

std::function<void()> httplib_call(const std::string& place, std::size_t elements) {
  const auto client = is_socket_path(place) ? std::make_shared<httplib::Client>(place)
                                            : std::make_shared<httplib::Client>("127.0.0.1", std::stoi(place));
  if (is_socket_path(place)) {
    client->set_address_family(AF_UNIX);
  }
  client->set_keep_alive(true);
  client->set_tcp_nodelay(true);
  client->set_read_timeout(60);
  return [client, body = body_of(elements)] {
    const auto answer = client->Post("/apply", httplib::Headers{{"Accept", kAccept}}, body, kType);
    if (!answer || answer->status != 200) {
      throw std::runtime_error("a wrong answer");
    }
  };
}

std::function<void()> beast_call(const std::string& place, std::size_t elements) {
  using Socket = asio::generic::stream_protocol::socket;
  struct Connection {
    asio::io_context io;
    Socket socket{io};
    boost::beast::flat_buffer buffer;
  };
  auto connection = std::make_shared<Connection>();
  connection->socket.assign(asio::generic::stream_protocol(is_socket_path(place) ? AF_UNIX : AF_INET, 0),
                            connected_socket(place));
  http::request<http::string_body> request(http::verb::post, "/apply", 11);
  request.set(http::field::host, "127.0.0.1");
  request.set(http::field::accept, kAccept);
  request.set(http::field::content_type, kType);
  request.body() = body_of(elements);
  request.prepare_payload();
  return [connection, request] {
    http::write(connection->socket, request);
    http::response_parser<http::string_body> parser;
    parser.body_limit(std::uint64_t{1} << 32U);
    http::read(connection->socket, connection->buffer, parser);
    if (parser.get().result_int() != 200) {
      throw std::runtime_error("a wrong answer");
    }
  };
}

// The least that can be done: one send, and receives into one buffer that is there.
std::function<void()> raw_call(const std::string& place, std::size_t elements) {
  const std::string body = body_of(elements);
  const std::string request = "POST /apply HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: " + std::string(kAccept) +
                              "\r\nContent-Type: " + kType + "\r\nContent-Length: " + std::to_string(body.size()) +
                              "\r\n\r\n" + body;
  return [descriptor = connected_socket(place), request, buffer = std::vector<char>(body.size() + 4096)]() mutable {
    std::size_t sent = 0;
    while (sent != request.size()) {
      const ssize_t count = send(descriptor, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (count <= 0) {
        throw std::runtime_error("the connection broke");
      }
      sent += static_cast<std::size_t>(count);
    }
    std::size_t got = 0;
    std::size_t needed = 1;
    while (got < needed) {
      const ssize_t count = recv(descriptor, buffer.data() + got, buffer.size() - got, 0);
      if (count <= 0) {
        throw std::runtime_error("the connection broke");
      }
      const bool is_first = got == 0;
      got += static_cast<std::size_t>(count);
      if (is_first) {
        const std::string_view head(buffer.data(), got);
        const std::size_t length = head.find("ontent-length: ") + head.find("ontent-Length: ") + 1;
        needed = head.find("\r\n\r\n") + 4 + std::stoul(std::string(head.substr(length + 15, 20)));
      }
    }
  };
}

// Has so many threads make so many small calls each; prints how many there were a second.
void time_threads(const std::string& place, std::size_t threads, std::size_t calls, bool is_shared) {
  constexpr std::size_t kElements = 3;
  std::vector<std::function<void()>> callers;
  for (std::size_t i = 0; i != threads; ++i) {
    // A copy shares the client.
    callers.push_back(is_shared && i != 0 ? callers.front() : sdk_call(place, kElements));
  }
  const auto run = [&](std::size_t count) {
    std::vector<std::thread> running;
    running.reserve(threads);
    for (const std::function<void()>& call : callers) {
      running.emplace_back([&call, count] {
        for (std::size_t i = 0; i != count; ++i) {
          call();
        }
      });
    }
    for (std::thread& thread : running) {
      thread.join();
    }
  };
  run(calls / 10 + 1);
  const auto begin = std::chrono::steady_clock::now();
  run(calls);
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  std::printf("{\"per_second\":%.1f}\n", static_cast<double>(threads * calls) / time.count());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fprintf(stderr,
                 "usage: tessera_client_timer (sdk|httplib|beast|raw) PORT|SOCKET ELEMENTS COUNT\n"
                 "       tessera_client_timer (shared|each) PORT|SOCKET THREADS CALLS\n");
    return 2;
  }
  try {
    const std::string kind = argv[1];
    const std::size_t elements = std::stoul(argv[3]);
    const std::size_t count = std::stoul(argv[4]);
    if (kind == "shared" || kind == "each") {
      time_threads(argv[2], elements, count, kind == "shared");
      return 0;
    }
    const auto make = kind == "sdk"       ? sdk_call
                      : kind == "httplib" ? httplib_call
                      : kind == "beast"   ? beast_call
                                          : raw_call;
    const std::function<void()> call = make(argv[2], elements);
    std::vector<double> times;
    for (std::size_t i = 0; i != count + count / 5 + 1; ++i) {
      const auto begin = std::chrono::steady_clock::now();
      call();
      const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - begin;
      if (i > count / 5) {
        times.push_back(time.count());
      }
    }
    std::ranges::sort(times);
    std::printf("{\"p50_us\":%.3f,\"p99_us\":%.3f}\n", times[times.size() / 2], times[times.size() * 99 / 100]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera_client_timer: %s\n", error.what());
    return 1;
  }
  return 0;
}
