#include "served/http_client.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

#include "tessera/base/unique_fd.h"

namespace tessera::gpu_kit {
namespace {

constexpr const char* kEndOfLine = "\r\n";

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(),
                         [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return text;
}

UniqueFd connect_to(const std::string& path) {
  UniqueFd descriptor = UniqueFd::adopt(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw std::runtime_error("the path of the socket is too long");
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  if (::connect(descriptor.value(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    throw std::runtime_error("nobody listens on " + path);
  }
  return descriptor;
}

HttpAnswer parse(const std::string& text) {
  const std::size_t end_of_head = text.find("\r\n\r\n");
  if (!text.starts_with("HTTP/1.1 ") || end_of_head == std::string::npos) {
    throw std::runtime_error("the answer is no HTTP");
  }
  HttpAnswer answer;
  answer.status = std::stoi(text.substr(9, 3));
  answer.body = text.substr(end_of_head + 4);
  std::size_t at = text.find(kEndOfLine) + 2;
  while (at < end_of_head) {
    const std::size_t end = text.find(kEndOfLine, at);
    const std::string line = text.substr(at, end - at);
    const std::size_t colon = line.find(": ");
    if (colon != std::string::npos) {
      answer.headers[lower(line.substr(0, colon))] = line.substr(colon + 2);
    }
    at = end + 2;
  }
  return answer;
}

}  // namespace

HttpAnswer HttpClient::exchange(const std::string& request) const {
  const UniqueFd connection = connect_to(socket_);
  std::size_t sent = 0;
  while (sent < request.size()) {
    const ssize_t count = ::send(connection.value(), request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) {
      throw std::runtime_error("the server took only a part of the request");
    }
    sent += static_cast<std::size_t>(count);
  }
  std::string text;
  char buffer[1 << 16];
  for (;;) {
    const ssize_t count = ::recv(connection.value(), buffer, sizeof(buffer), 0);
    if (count <= 0) {
      return parse(text);
    }
    text.append(buffer, static_cast<std::size_t>(count));
  }
}

HttpAnswer HttpClient::get(const std::string& path, const std::string& headers) const {
  return exchange("GET " + path + " HTTP/1.1\r\nHost: kit\r\nConnection: close\r\n" + headers + "\r\n");
}

HttpAnswer HttpClient::post(const std::string& path, const std::string& body, const std::string& headers) const {
  return exchange("POST " + path + " HTTP/1.1\r\nHost: kit\r\nConnection: close\r\nContent-Type: application/json\r\n" +
                  headers + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

}  // namespace tessera::gpu_kit
