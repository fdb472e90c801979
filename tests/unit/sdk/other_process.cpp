#include "other_process.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <optional>
#include <string>

#include "served_modules.h"
#include "support/child_process.h"
#include "support/stand_in.h"
#include "tessera/sdk/tesseract.h"

namespace tessera::testing {
namespace {

std::string test_variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

void tell(const std::string& line) {
  if (!LineChannel(ChildProcess::kChildDescriptor).write(line)) {
    std::_Exit(3);
  }
}

// A client that stays there until the program ends, as one that a program forgets does.
Tesseract call_once() {
  ClientOptions options;
  options.exports_idle_time = std::chrono::hours(1);
  Tesseract client = Tesseract::from_url(test_variable("TESSERA_TEST_URL"), options);
  static_cast<void>(client.apply({}));
  tell("called");
  return client;
}

std::optional<Tesseract>& global_client() {
  static std::optional<Tesseract> client;
  return client;
}

int serve() {
  const ServedModules served(test_variable("TESSERA_TEST_MODULES"), [](DaemonOptions& options) {
    options.cuda_library = stand_in_path();
    options.config.gpu_transport = "cuda_ipc";
  });
  tell(served.url());
  LineChannel channel(ChildProcess::kChildDescriptor);
  for (std::string line; channel.read(line);) {
  }
  return 0;
}

}  // namespace

int run_other_process(std::string_view role) {
  if (role == "serve") {
    return serve();
  }
  if (role == "return-from-main") {
    // Never destroyed, so that nothing but the end of the program tells the server.
    static const Tesseract* const kClient = new Tesseract(call_once());  // NOLINT(cppcoreguidelines-owning-memory)
    return kClient == nullptr ? 1 : 0;
  }
  if (role == "call-exit") {
    const Tesseract client = call_once();
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  }
  if (role == "exit-with-a-global-client") {
    global_client() = call_once();
    return 0;
  }
  if (role == "exit-after-a-fork") {
    const Tesseract client = call_once();
    if (const pid_t child = ::fork(); child != 0) {
      ::waitpid(child, nullptr, 0);
    }
    std::exit(0);  // NOLINT(concurrency-mt-unsafe)
  }
  std::cerr << "no such role: " << role << '\n';
  return 2;
}

}  // namespace tessera::testing
