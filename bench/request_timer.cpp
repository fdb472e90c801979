// Times one HTTP request, sent again and again on one kept connection, and prints the figures as JSON.
//
//   tessera_request_timer (--tcp PORT | --unix PATH) --body FILE [--target /apply] [--accept TYPE] [--status 200]
//                         [--count N] [--warmup N] [--remove FOLDER]
//
// The server runs in another process. Every response must have the status and be equal to the first one byte for byte
// (in length with --remove, where each names files of its own), so a figure never stands for an error or for a wrong
// answer. --remove removes the runs that are left in a folder, behind each request and outside its time.

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "raw_http.h"

namespace {

struct Options {
  bench::Exchange exchange;
  std::string accept = "application/json";
  std::string status = "200";
  std::string remove;
  std::size_t count = 1000;
  std::size_t warmup = 100;
};

Options parse(int argc, char** argv) {
  Options options;
  options.exchange = bench::read_options(argc, argv, [&](std::string_view name, const std::string& value) {
    if (name == "--accept") {
      options.accept = value;
    } else if (name == "--status") {
      options.status = value;
    } else if (name == "--remove") {
      options.remove = value;
    } else if (name == "--count") {
      options.count = std::stoul(value);
    } else if (name == "--warmup") {
      options.warmup = std::stoul(value);
    } else {
      return false;
    }
    return true;
  });
  if (options.count == 0) {
    throw std::runtime_error("--count is at least 1");
  }
  return options;
}

void remove_runs(const std::string& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("run_")) {
      std::filesystem::remove_all(entry.path());
    }
  }
}

void run(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const std::string body = bench::read_file(options.exchange.body_file);
  const std::string request = bench::make_request(options.exchange.target, options.accept, body);
  const int fd = bench::connect_to(options.exchange.place);
  bench::ResponseBuffer buffer;
  std::string first;
  std::vector<double> times_us;
  times_us.reserve(options.count);
  for (std::size_t i = 0; i < options.warmup + options.count; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    bench::send_all(fd, request);
    const std::string_view answer = bench::receive(fd, buffer, options.status);
    const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
    if (i == 0) {
      first = answer;
    } else if (options.remove.empty() ? answer != first : answer.size() != first.size()) {
      throw std::runtime_error("two responses to the same request differ");
    }
    if (!options.remove.empty()) {
      remove_runs(options.remove);
    }
    if (i >= options.warmup) {
      times_us.push_back(taken.count());
    }
  }
  ::close(fd);

  std::ranges::sort(times_us);
  std::printf(
      "{\"p50_us\":%.1f,\"p99_us\":%.1f,\"min_us\":%.1f,\"count\":%zu,\"request_bytes\":%zu,\"response_bytes\":%zu}\n",
      bench::quantile(times_us, 0.5), bench::quantile(times_us, 0.99), times_us.front(), times_us.size(), body.size(),
      first.size());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tessera_request_timer: %s\n", error.what());
    return 1;
  }
  return 0;
}
