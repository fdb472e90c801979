// Times one HTTP request, sent again and again on one kept connection, and prints the figures as JSON.
//
//   tessera_request_timer (--tcp PORT | --unix PATH) --target /apply --body FILE [--accept TYPE] [--count N] [--warmup
//   N]
//
// The server runs in another process. Every response must be 200 and equal to the first one byte for byte, so a figure
// never stands for an error or for a wrong answer.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace {

[[noreturn]] void fail(const std::string& what) {
  throw std::runtime_error(what);
}

std::string last_error() {
  return std::error_code(errno, std::generic_category()).message();
}

struct Options {
  int tcp_port = 0;
  std::string unix_path;
  std::string target = "/apply";
  std::string body_file;
  std::string accept = "application/json";
  std::size_t count = 1000;
  std::size_t warmup = 100;
};

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--tcp") {
      options.tcp_port = std::stoi(value);
    } else if (name == "--unix") {
      options.unix_path = value;
    } else if (name == "--target") {
      options.target = value;
    } else if (name == "--body") {
      options.body_file = value;
    } else if (name == "--accept") {
      options.accept = value;
    } else if (name == "--count") {
      options.count = std::stoul(value);
    } else if (name == "--warmup") {
      options.warmup = std::stoul(value);
    } else {
      fail("unknown option " + std::string(name));
    }
  }
  if (argc % 2 == 0 || options.count == 0) {
    fail("options come in pairs, and --count is at least 1");
  }
  return options;
}

int connect_to(const Options& options) {
  int fd = -1;
  int result = -1;
  if (!options.unix_path.empty()) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (options.unix_path.size() >= sizeof(address.sun_path)) {
      fail("the path of the socket is too long");
    }
    std::memcpy(address.sun_path, options.unix_path.c_str(), options.unix_path.size() + 1);
    fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  } else {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<std::uint16_t>(options.tcp_port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address));
  }
  if (result != 0) {
    fail("cannot connect: " + last_error());
  }
  return fd;
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

std::size_t content_length(std::string head) {
  std::ranges::transform(head, head.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const std::size_t at = head.find("\r\ncontent-length:");
  if (at == std::string::npos) {
    fail("a response without Content-Length");
  }
  return std::stoul(head.substr(at + 17));
}

// Reads one response into `buffer`, whose memory stays warm; returns the body.
std::string_view receive(int fd, std::vector<char>& buffer) {
  std::size_t have = 0;
  std::size_t head_end = std::string::npos;
  std::size_t need = 0;
  while (head_end == std::string::npos || have < need) {
    if (have == buffer.size()) {
      buffer.resize(buffer.size() * 2);
    }
    const ssize_t got = ::recv(fd, buffer.data() + have, buffer.size() - have, 0);
    if (got <= 0) {
      fail("the connection ended in the middle of a response");
    }
    have += static_cast<std::size_t>(got);
    if (head_end == std::string::npos) {
      const std::size_t end = std::string_view(buffer.data(), have).find("\r\n\r\n");
      if (end != std::string::npos) {
        head_end = end + 4;
        need = head_end + content_length(std::string(buffer.data(), head_end));
        if (buffer.size() < need) {
          buffer.resize(need);
        }
        if (std::string_view(buffer.data(), 12).substr(9, 3) != "200") {
          fail("status " + std::string(buffer.data(), std::min<std::size_t>(have, 400)));
        }
      }
    }
  }
  return {buffer.data() + head_end, need - head_end};
}

void run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  std::ifstream file(options.body_file, std::ios::binary);
  if (!file) {
    fail("cannot read " + options.body_file);
  }
  const std::string body((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string request =
      "POST " + options.target +
      " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: " + options.accept +
      "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;

  const int fd = connect_to(options);
  std::vector<char> buffer(1 << 20);
  std::string first;
  std::vector<double> times_us;
  times_us.reserve(options.count);
  for (std::size_t i = 0; i < options.warmup + options.count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    send_all(fd, request);
    const std::string_view answer = receive(fd, buffer);
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    if (i == 0) {
      first = answer;
    } else if (answer != first) {
      fail("two responses to the same request differ");
    }
    if (i >= options.warmup) {
      times_us.push_back(taken.count());
    }
  }
  ::close(fd);

  std::ranges::sort(times_us);
  const auto at = [&](double share) {
    return times_us[std::min(times_us.size() - 1,
                             static_cast<std::size_t>(share * static_cast<double>(times_us.size())))];
  };
  std::printf(
      "{\"p50_us\":%.1f,\"p99_us\":%.1f,\"min_us\":%.1f,\"count\":%zu,\"request_bytes\":%zu,\"response_bytes\":%zu}\n",
      at(0.5), at(0.99), times_us.front(), times_us.size(), body.size(), first.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "request_timer: %s\n", error.what());
    return 1;
  }
  return 0;
}
