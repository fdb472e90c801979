// A Tesseract that takes the process down in the way it is told; when it is loaded, if CRASHER_AT_LOAD says so.

#include <sys/mman.h>
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

int recurse_while(const volatile bool& goes_on, int depth) {
  std::array<volatile char, 4096> frame{};
  frame[0] = static_cast<char>(depth);
  return goes_on ? recurse_while(goes_on, depth + 1) + frame[0] : depth;
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
    // A page that nobody may touch: a fault of the machine, and nothing that a compiler or a sanitizer sees before.
    auto* const page = static_cast<volatile char*>(::mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    *page = 1;
  }
  if (how == "overflow") {
    const volatile bool always = true;
    return {{"depth", recurse_while(always, 0)}};
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
const AtLoad kAtLoad;  // NOLINT(cert-err58-cpp): that it throws is the point

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
