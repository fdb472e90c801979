// Keeps many connections busy from one thread, each with one request at a time, and prints the figures as JSON.
//
//   tessera_load_timer (--tcp PORT | --unix PATH) --body FILE [--connections N] [--seconds S] [--target /apply]
//
// Every response must be 200 and equal to the first one byte for byte. A connection that got no answer counts as
// unserved.

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "raw_http.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  bench::Exchange exchange;
  std::size_t connections = 8;
  double seconds = 2;
};

Options parse(int argc, char** argv) {
  Options options;
  options.exchange = bench::read_options(argc, argv, [&](std::string_view name, const std::string& value) {
    if (name == "--connections") {
      options.connections = std::stoul(value);
    } else if (name == "--seconds") {
      options.seconds = std::stod(value);
    } else {
      return false;
    }
    return true;
  });
  if (options.connections == 0) {
    throw std::runtime_error("--connections is at least 1");
  }
  return options;
}

struct Connection {
  int fd = -1;
  bench::ResponseBuffer response;
  Clock::time_point sent;
  std::size_t answers = 0;
};

class Load {
 public:
  explicit Load(const Options& options)
      : options_(options),
        request_(bench::make_request(options.exchange.target, "application/json",
                                     bench::read_file(options.exchange.body_file))),
        connections_(options.connections) {}

  void run() {
    const int poll = ::epoll_create1(EPOLL_CLOEXEC);
    for (std::size_t i = 0; i != connections_.size(); ++i) {
      Connection& connection = connections_[i];
      connection.fd = bench::connect_to(options_.exchange.place);
      ::fcntl(connection.fd, F_SETFL, O_NONBLOCK);
      ::epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      ::epoll_ctl(poll, EPOLL_CTL_ADD, connection.fd, &event);
    }
    const Clock::time_point begin = Clock::now();
    const Clock::time_point end =
        begin + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(options_.seconds));
    for (Connection& connection : connections_) {
      send(connection);
    }
    std::array<::epoll_event, 256> events{};
    while (Clock::now() < end) {
      const int count = ::epoll_wait(poll, events.data(), static_cast<int>(events.size()), 10);
      for (int i = 0; i < count; ++i) {
        take(connections_[events[static_cast<std::size_t>(i)].data.u64]);
      }
    }
    report(std::chrono::duration<double>(Clock::now() - begin).count());
  }

 private:
  void send(Connection& connection) {
    connection.response.clear();
    connection.sent = Clock::now();
    bench::send_all(connection.fd, request_);
  }

  void take(Connection& connection) {
    const ssize_t got = ::recv(connection.fd, connection.response.room(), connection.response.room_size(), 0);
    if (got < 0 && errno == EAGAIN) {
      return;
    }
    if (got <= 0) {
      throw std::runtime_error("a connection ended");
    }
    if (!connection.response.add(static_cast<std::size_t>(got), "200")) {
      return;
    }
    times_us_.push_back(std::chrono::duration<double, std::micro>(Clock::now() - connection.sent).count());
    if (first_.empty()) {
      first_ = connection.response.body();
    } else if (connection.response.body() != first_) {
      throw std::runtime_error("two responses to the same request differ");
    }
    ++connection.answers;
    send(connection);
  }

  void report(double seconds) {
    const auto unserved = std::ranges::count(connections_, std::size_t{0}, &Connection::answers);
    std::ranges::sort(times_us_);
    if (times_us_.empty()) {
      throw std::runtime_error("no answer at all");
    }
    std::printf("{\"per_second\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"unserved\":%zu}\n",
                static_cast<double>(times_us_.size()) / seconds, bench::quantile(times_us_, 0.5),
                bench::quantile(times_us_, 0.99), static_cast<std::size_t>(unserved));
  }

  const Options& options_;
  std::string request_;
  std::vector<Connection> connections_;
  std::vector<double> times_us_;
  std::string first_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    ::rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    ::setrlimit(RLIMIT_NOFILE, &files);
    const Options options = parse(argc, argv);
    Load(options).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera_load_timer: %s\n", error.what());
    return 1;
  }
  return 0;
}
