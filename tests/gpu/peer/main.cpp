// A process of the tests of GPU arrays: a client to be killed, checked or timed; or one that looks at the machine.
//
//   tessera_gpu_peer check PORT            the transport check; prints the reason if it fails (exit code 4)
//   tessera_gpu_peer anonymous PORT        the same, without saying who it is
//   tessera_gpu_peer calls PORT N SIZE     the check, then N calls with arrays up to SIZE elements by every place
//   tessera_gpu_peer identity PORT N SIZE  likewise with the Tesseract `identity` of any server
//   tessera_gpu_peer steady PORT N         N calls with mixed sizes after warm-up; prints its counters before and after
//   tessera_gpu_peer times PORT N SIZE     median microseconds of N calls by turns: with an array on the GPU, with a host
//                                          array whose JSON is as long, and with all that the client does to an array
//   tessera_gpu_peer used SECONDS          waits until no GPU memory of the machine is taken
//   tessera_gpu_peer total PID             how many calls of the driver a process has made

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "functions.h"
#include "session.h"
#include "tessera/stand_in/control.h"

using namespace tessera;
using namespace tessera::gpu_tests;

namespace {

using Seconds = std::chrono::duration<double>;
using Microseconds = std::chrono::duration<double, std::micro>;

constexpr std::array<const char*, 6> kPlaces{"same", "new", "offset", "pool", "managed", "strided"};

template <class Function>
Function control(const char* name) {
  void* library = ::dlopen("libcuda.so.1", RTLD_NOW);
  const auto init = library == nullptr ? nullptr : reinterpret_cast<int (*)(unsigned)>(::dlsym(library, "cuInit"));
  void* symbol = library == nullptr ? nullptr : ::dlsym(library, name);
  if (init == nullptr || symbol == nullptr || init(0) != 0) {
    throw Ending(ExitCode::kCudaFailed, "the driver is no stand-in");
  }
  return reinterpret_cast<Function>(symbol);
}

int check(Session& session) {
  const std::string reason = session.check();
  std::cout << reason << '\n';
  return static_cast<int>(reason.empty() ? ExitCode::kGood : ExitCode::kRefused);
}

int calls(Session& session, int count, std::size_t size, bool has_places) {
  if (const std::string reason = session.check(); !reason.empty()) {
    throw Ending(ExitCode::kRefused, reason);
  }
  std::size_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const auto number = static_cast<std::size_t>(i);
    const std::size_t elements = size / (1 + number % 3) + 1;
    bytes += session.call(has_places ? kPlaces.at(number % kPlaces.size()) : "", elements, static_cast<float>(1000 * i),
                          i % 2 == 0 ? GpuTransport::Borrow::kNo : GpuTransport::Borrow::kYes);
  }
  session.finish();
  std::cout << bytes << '\n';
  return 0;
}

void print(const char* when, const GpuSystem& gpus) {
  const TransportCounters counters = gpus.counters();
  std::uint64_t allocations = 0;
  for (const DevicePool::Stats& pool : gpus.pool_stats()) {
    allocations += pool.allocations;
  }
  std::cout << when << ' ' << counters.handles_taken << ' ' << counters.handles_opened << ' ' << allocations << ' '
            << counters.mapping_hits << '\n'
            << std::flush;
}

void call_with_mixed_sizes(Session& session, int count) {
  constexpr std::array<std::size_t, 5> kSizes{1, 256, 25'000, 3, 500'000};
  for (int i = 0; i < count; ++i) {
    session.call(i % 2 == 0 ? "same" : "new", kSizes.at(static_cast<std::size_t>(i) % kSizes.size()),
                 static_cast<float>(i), i % 4 < 2 ? GpuTransport::Borrow::kNo : GpuTransport::Borrow::kYes);
  }
}

// Waits for a line before it goes on, so that others can count meanwhile.
int steady(Session& session, int count) {
  constexpr int kWarmUp = 50;
  call_with_mixed_sizes(session, kWarmUp);
  print("before", session.gpus());
  std::string line;
  std::getline(std::cin, line);
  call_with_mixed_sizes(session, count);
  print("after", session.gpus());
  std::getline(std::cin, line);
  session.finish();
  return 0;
}

template <class Call>
double microseconds_of(Call call) {
  const auto begin = std::chrono::steady_clock::now();
  call();
  return Microseconds(std::chrono::steady_clock::now() - begin).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values.at(values.size() / 2);
}

// One kept call of each kind by turns, so that what slows the machine slows both; then whole calls, in which the client
// makes, exports, imports and compares an array, too.
int times(Session& session, int count, std::size_t size) {
  constexpr std::size_t kElementsOfOneReference = 40;  // in base64 they are as long as the text that names an array
  const Session::Prepared on_gpu = session.prepare_on_gpu(size);
  const Session::Prepared on_host = session.prepare_on_host(std::min(size, kElementsOfOneReference));
  std::vector<double> gpu;
  std::vector<double> host;
  std::vector<double> whole;
  for (int i = -count / 10; i < count; ++i) {
    const double one = microseconds_of([&] { session.repeat(on_gpu); });
    const double other = microseconds_of([&] { session.repeat(on_host); });
    const double all = microseconds_of([&] { session.call("same", size, 1.0F, GpuTransport::Borrow::kYes); });
    if (i >= 0) {
      gpu.push_back(one);
      host.push_back(other);
      whole.push_back(all);
    }
  }
  std::printf("%.1f %.1f %.1f\n", median(gpu), median(host), median(whole));
  return 0;
}

int used(double limit_seconds) {
  const auto used_bytes = control<std::uint64_t (*)(int)>("tessera_stand_in_used_bytes");
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    const std::uint64_t taken = used_bytes(0) + used_bytes(1);
    const double passed = Seconds(std::chrono::steady_clock::now() - begin).count();
    if (taken == 0 || passed > limit_seconds) {
      std::cout << taken << ' ' << passed << '\n';
      return taken == 0 ? 0 : static_cast<int>(ExitCode::kWrongData);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

int total(int pid) {
  const auto calls_of = control<std::int64_t (*)(int, const char*)>("tessera_stand_in_calls");
  std::int64_t sum = 0;
  for (const char* name : stand_in::kFunctionNames) {
    sum += std::max<std::int64_t>(0, calls_of(pid, name));
  }
  std::cout << sum << '\n';
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  const std::string& command = arguments.at(0);
  const auto number = [&arguments](std::size_t at) { return std::stoi(arguments.at(at)); };
  if (command == "used") {
    return used(std::stod(arguments.at(1)));
  }
  if (command == "total") {
    return total(number(1));
  }
  Session::Options options{.port = number(1)};
  options.does_tell_peer = command != "anonymous";
  if (command == "identity") {
    options.result = "x";
  }
  Session session(options);
  if (command == "check" || command == "anonymous") {
    return check(session);
  }
  if (command == "calls" || command == "identity") {
    return calls(session, number(2), static_cast<std::size_t>(number(3)), command == "calls");
  }
  if (command == "steady") {
    return steady(session, number(2));
  }
  if (command == "times") {
    return times(session, number(2), static_cast<std::size_t>(number(3)));
  }
  return static_cast<int>(ExitCode::kUsage);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return run(std::vector<std::string>(arguments + 1, arguments + count));
  } catch (const Ending& ending) {
    std::cerr << ending.what() << '\n';
    return static_cast<int>(ending.code());
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return static_cast<int>(ExitCode::kUsage);
  }
}
