#include "raw_connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>

namespace tessera {
namespace {

constexpr std::chrono::milliseconds kReadPatience{30'000};

bool is_readable_within(int socket, std::chrono::milliseconds time) {
  ::pollfd wish{.fd = socket, .events = POLLIN, .revents = 0};
  return ::poll(&wish, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace

RawConnection RawConnection::to_port(std::uint16_t port) {
  RawConnection connection;
  connection.socket_ = UniqueFd::adopt(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(connection.socket_.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    connection.close();
  }
  // What is sent in pieces arrives in pieces.
  const int on = 1;
  static_cast<void>(::setsockopt(connection.socket_.value(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
  return connection;
}

RawConnection RawConnection::to_path(const std::filesystem::path& path) {
  RawConnection connection;
  connection.socket_ = UniqueFd::adopt(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
  if (::connect(connection.socket_.value(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    connection.close();
  }
  return connection;
}

bool RawConnection::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_.value(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool RawConnection::receive() {
  if (!is_readable_within(socket_.value(), kReadPatience)) {
    return false;
  }
  std::array<char, 65536> piece{};
  const ssize_t got = ::recv(socket_.value(), piece.data(), piece.size(), 0);
  if (got <= 0) {
    return false;
  }
  unread_.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

std::string RawConnection::read(std::size_t count) {
  while (unread_.size() < count && receive()) {
  }
  const std::string result = unread_.substr(0, count);
  unread_.erase(0, result.size());
  return result;
}

ReadResponse RawConnection::read_response(bool has_body) {
  std::size_t end = unread_.find("\r\n\r\n");
  while (end == std::string::npos) {
    if (!receive()) {
      return {};
    }
    end = unread_.find("\r\n\r\n");
  }
  const std::string head = unread_.substr(0, end + 2);
  unread_.erase(0, end + 4);
  if (!head.starts_with("HTTP/1.1 ")) {
    return {};
  }
  ReadResponse response;
  response.status = std::stoi(head.substr(9, 3));
  std::size_t line = head.find("\r\n") + 2;
  while (line < head.size()) {
    const std::size_t colon = head.find(':', line);
    const std::size_t line_end = head.find("\r\n", line);
    std::string name = head.substr(line, colon - line);
    std::ranges::transform(name, name.begin(),
                           [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    response.headers[name] = head.substr(colon + 2, line_end - colon - 2);
    line = line_end + 2;
  }
  if (const auto length = response.headers.find("content-length"); length != response.headers.end() && has_body) {
    const std::size_t size = std::stoul(length->second);
    response.body = read(size);
    if (response.body.size() < size) {
      return {};
    }
  }
  return response;
}

ReadResponse RawConnection::exchange(std::string_view bytes) {
  send(bytes);
  return read_response();
}

bool RawConnection::is_closed_within(std::chrono::milliseconds time) {
  if (!unread_.empty() || !is_readable_within(socket_.value(), time)) {
    return false;
  }
  char byte = 0;
  return ::recv(socket_.value(), &byte, 1, 0) <= 0;
}

bool RawConnection::is_silent_for(std::chrono::milliseconds time) {
  return unread_.empty() && !is_readable_within(socket_.value(), time);
}

void RawConnection::close_writing() {
  ::shutdown(socket_.value(), SHUT_WR);
}

void RawConnection::reset() {
  const ::linger at_once{.l_onoff = 1, .l_linger = 0};
  ::setsockopt(socket_.value(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

std::string post(std::string_view target, std::string_view body, std::string_view more_headers) {
  std::string text = "POST " + std::string(target) + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n";
  text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  text += more_headers;
  text += "\r\n";
  text += body;
  return text;
}

std::string get(std::string_view target, std::string_view more_headers) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: x\r\n" + std::string(more_headers) + "\r\n";
}

}  // namespace tessera
