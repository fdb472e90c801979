// A Tesseract that takes the process down in the way it is told; when it is loaded, if CRASHER_AT_LOAD says so.

#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>

#include "tessera/tesseract/tesseract.h"

using namespace tessera;

namespace {

int recurse_without_end(int depth);
// Through a pointer that may change, so that no compiler sees what it is for.
int (*volatile next_call)(int) = recurse_without_end;
int recurse_without_end(int depth) {
  std::array<volatile char, 4096> frame{};
  frame[0] = static_cast<char>(depth);
  return next_call(depth + 1) + frame[0];
}

Object apply(const Object& inputs, Context& context) {
  const std::string& how = inputs["how"].text();
  std::puts("printed before");
  if (inputs["log"].boolean()) {
    context.log("logged before");
  }
  if (how == "abort") {
    std::abort();
  }
  if (how == "exit") {
    std::exit(3);  // NOLINT(concurrency-mt-unsafe)
  }
  if (how == "segv") {
    volatile int* nowhere = nullptr;
    *nowhere = 1;  // NOLINT(clang-analyzer-core.NullDereference)
  }
  if (how == "overflow") {
    return {{"depth", recurse_without_end(0)}};
  }
  if (how == "throw_in_thread") {
    std::thread([] { throw std::runtime_error("nobody catches this"); }).join();
  }
  return {{"depth", 0}};
}

struct AtLoad {
  AtLoad() {
    const char* const variable = std::getenv("CRASHER_AT_LOAD");  // NOLINT(concurrency-mt-unsafe)
    const std::string_view how = variable != nullptr ? variable : "";
    if (how == "throw") {
      throw std::runtime_error("not today");
    }
    if (how == "print") {
      std::puts("printed at load");
    }
    if (how == "wait") {
      ::pause();
    }
  }
};
const AtLoad at_load;  // NOLINT(cert-err58-cpp): that it throws is the point

}  // namespace

TESSERA_MODULE {
  return TesseractDefinition("crasher")
      .describe("Does not return.")
      .inputs(Schema("InputSchema")
                  .field("how", choice({"no", "abort", "exit", "segv", "overflow", "throw_in_thread"}), "")
                  .field("log", boolean(), "", false))
      .outputs(Schema("OutputSchema").field("depth", integer(), ""))
      .apply(apply);
}
