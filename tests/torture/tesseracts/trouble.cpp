// A Tesseract that does what no author should do; when nothing is asked of it, it hands x back.

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

constexpr std::size_t kPieceBytes = std::size_t{16} << 20;

void wait_for_ever() {
  while (true) {
    ::pause();
  }
}

// Takes memory until there is none, and gives it back as the exception passes.
void take_all_memory() {
  std::vector<std::vector<char>> pieces;
  while (true) {
    pieces.emplace_back(kPieceBytes, 'x');
  }
}

// Starts threads until the system refuses one.
void start_threads_without_end() {
  std::vector<std::jthread> threads;
  while (true) {
    threads.emplace_back([](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
}

void start_many_threads() {
  constexpr std::size_t kThreads = 500;
  std::vector<std::jthread> threads;
  threads.reserve(kThreads);
  for (std::size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([] { std::this_thread::sleep_for(std::chrono::milliseconds(20)); });
  }
}

void abort_in_destructor() {
  struct Thrower {
    ~Thrower() noexcept(false) { throw std::runtime_error("thrown while another exception passes"); }
  };
  const Thrower thrower;
  throw std::runtime_error("the first exception");
}

// All the ways, by name.
const std::map<std::string, std::function<void()>>& ways() {
  static const std::map<std::string, std::function<void()>> kWays{
      {"no", [] {}},
      {"endpoint_error", [] { throw EndpointError("ValueError", "the mesh is empty"); }},
      {"exception", [] { throw std::runtime_error("the solver diverged"); }},
      {"int", [] { throw 42; }},  // NOLINT(hicpp-exception-baseclass)
      {"bad_alloc", [] { throw std::bad_alloc(); }},
      {"abort", [] { std::abort(); }},
      {"terminate", abort_in_destructor},
      {"segv", [] { (void)std::raise(SIGSEGV); }},
      {"fpe", [] { (void)std::raise(SIGFPE); }},
      {"exit", [] { std::exit(0); }},              // NOLINT(concurrency-mt-unsafe)
      {"quick_exit", [] { std::quick_exit(5); }},  // NOLINT(concurrency-mt-unsafe)
      {"hang", wait_for_ever},
      {"memory", take_all_memory},
      {"threads", start_many_threads},
      {"endless_threads", start_threads_without_end},
      {"pipe", [] { (void)std::raise(SIGPIPE); }},
  };
  return kWays;
}

Object apply(const Object& inputs, Context& /*context*/) {
  const double seconds = inputs["sleep_s"].number();
  if (seconds > 0.0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  }
  if (const std::string& line = inputs["print"].text(); !line.empty()) {
    std::puts(line.c_str());
  }
  ways().at(inputs["how"].text())();
  return {{"y", inputs["x"].array()}};
}

std::vector<Value> names_of_ways() {
  std::vector<Value> names;
  names.reserve(ways().size());
  for (const auto& [name, way] : ways()) {
    names.emplace_back(name);
  }
  return names;
}

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("trouble")
      .describe("Makes trouble, in the way it is told.")
      .inputs(Schema("InputSchema")
                  .field("x", array(DType::kFloat32, {kFreeAxis}), "")
                  .field("how", choice(names_of_ways()), "", "no")
                  .field("sleep_s", number(), "", 0.0)
                  .field("print", text(), "", ""))
      .outputs(Schema("OutputSchema").field("y", array(DType::kFloat32, {kFreeAxis}), ""))
      .apply(apply);
}
