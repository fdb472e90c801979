// A program that serves a Tesseract of its own, with the installed daemon inside it: starts, says so, stops.
#include <iostream>
#include <memory>
#include <vector>

#include "tessera/base/clock.h"
#include "tessera/base/log.h"
#include "tessera/daemon/daemon.h"
#include "tessera/tesseract/tesseract.h"

int main() {
  using namespace tessera;
  auto negate = std::make_shared<TesseractDefinition>("negate");
  negate->inputs(Schema("InputSchema").field("x", number(), "A number."))
      .outputs(Schema("OutputSchema").field("y", number(), "-x"))
      .apply([](const Object& inputs, Context& /*context*/) -> Object { return {{"y", -inputs["x"].number()}}; });

  const SystemClock clock;
  SilentLogger logger;
  DaemonOptions options;
  options.port = 0;
  const auto daemon = Daemon::start(options, {negate}, logger, clock);
  if (!daemon) {
    std::cerr << daemon.error().message() << '\n';
    return 1;
  }
  std::cout << (daemon.value()->port() > 0 ? "serving" : "no port") << '\n';
  return daemon.value()->stop() ? 0 : 1;
}
