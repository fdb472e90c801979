#include "raw_http.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace bench {
namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

std::string last_error() {
  return std::error_code(errno, std::generic_category()).message();
}

std::size_t content_length(std::string head) {
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = head.find("\r\ncontent-length:");
  if (at == std::string::npos) {
    fail("a response without Content-Length");
  }
  return std::stoul(head.substr(at + 17));
}

}  // namespace

Exchange read_options(int argc, char** argv,
                      const std::function<bool(std::string_view name, const std::string& value)>& take) {
  if (argc % 2 == 0) {
    fail("options come in pairs");
  }
  Exchange exchange;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--tcp") {
      exchange.place.tcp_port = std::stoi(value);
    } else if (name == "--unix") {
      exchange.place.unix_path = value;
    } else if (name == "--target") {
      exchange.target = value;
    } else if (name == "--body") {
      exchange.body_file = value;
    } else if (!take(name, value)) {
      fail("unknown option " + std::string(name));
    }
  }
  return exchange;
}

int connect_to(const Place& place) {
  const bool is_unix = !place.unix_path.empty();
  const int fd = ::socket(is_unix ? AF_UNIX : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    fail("cannot make a socket: " + last_error());
  }
  int result = -1;
  if (is_unix) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (place.unix_path.size() >= sizeof(address.sun_path)) {
      fail("the path of the socket is too long");
    }
    std::memcpy(address.sun_path, place.unix_path.c_str(), place.unix_path.size() + 1);
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(place.tcp_port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int on = 1;
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  if (result != 0) {
    fail("cannot connect: " + last_error());
  }
  return fd;
}

std::string make_request(std::string_view target, std::string_view accept, std::string_view body) {
  std::string request = "POST ";
  request.append(target).append(" HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: ");
  request.append(accept).append("\r\nContent-Length: ").append(std::to_string(body.size())).append("\r\n\r\n");
  return request.append(body);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    fail("cannot read " + path);
  }
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      fail("cannot send: " + last_error());
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool ResponseBuffer::add(std::size_t count, std::string_view status) {
  have_ += count;
  if (size_ == 0) {
    const std::size_t end = std::string_view(memory_.data(), have_).find("\r\n\r\n");
    if (end == std::string_view::npos) {
      return false;
    }
    head_size_ = end + 4;
    size_ = head_size_ + content_length(std::string(memory_.data(), head_size_));
    if (std::string_view(memory_.data(), 12).substr(9, 3) != status) {
      fail("status " + std::string(memory_.data(), std::min<std::size_t>(have_, 400)));
    }
    // Room for one byte more, so that none is left only when the response is whole.
    memory_.resize(std::max(memory_.size(), size_ + 1));
  }
  return have_ >= size_;
}

std::string_view receive(int fd, ResponseBuffer& buffer, std::string_view status) {
  buffer.clear();
  ssize_t got = 0;
  do {
    got = ::recv(fd, buffer.room(), buffer.room_size(), 0);
    if (got <= 0) {
      fail("the connection ended in the middle of a response");
    }
  } while (!buffer.add(static_cast<std::size_t>(got), status));
  return buffer.body();
}

double quantile(const std::vector<double>& sorted, double share) {
  return sorted[std::min(sorted.size() - 1, static_cast<std::size_t>(share * static_cast<double>(sorted.size())))];
}

}  // namespace bench
