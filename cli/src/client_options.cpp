#include "client_options.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <chrono>
#include <cmath>

#include "tessera/sdk/client_error.h"

namespace tessera {

void add_url_to(CLI::App& app, std::string& url) {
  app.add_option("URL", url,
                 "Where the Tesseract is served: http://HOST:PORT, with /NAME behind it where a server has several, or "
                 "unix:/PATH/OF.SOCK, with :/NAME behind it")
      ->required();
}

void ConnectionFlags::add_to(CLI::App& app) {
  app.add_option("--timeout", timeout_seconds_, "Seconds to wait for a connection, and for each part of the answer");
}

ClientOptions ConnectionFlags::options() const {
  ClientOptions options;
  if (timeout_seconds_) {
    if (!(*timeout_seconds_ > 0) || *timeout_seconds_ > 1e9) {
      throw CommandError(ExitCode::kUsage, "--timeout must be more than 0 seconds");
    }
    const std::chrono::milliseconds limit(static_cast<std::int64_t>(std::ceil(*timeout_seconds_ * 1000)));
    options.timeouts.connect = limit;
    options.timeouts.read = limit;
  }
  return options;
}

ExitCode with_client_errors(const std::function<ExitCode()>& work) {
  try {
    return work();
  } catch (const ClientError& error) {
    const bool is_usage =
        error.kind() == ClientError::Kind::kInvalidArgument || error.kind() == ClientError::Kind::kRefused;
    throw CommandError(is_usage ? ExitCode::kUsage : ExitCode::kFailure, error.what());
  }
}

}  // namespace tessera
