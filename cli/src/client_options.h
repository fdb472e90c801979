// What the commands have in common that are clients.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "command.h"
#include "tessera/sdk/client_options.h"

namespace CLI {  // NOLINT(readability-identifier-naming): its own
class App;
}

namespace tessera {

/// Adds the argument URL.
void add_url_to(CLI::App& app, std::string& url);

/// The flags about the connection.
class ConnectionFlags {
 public:
  void add_to(CLI::App& app);
  /// Throws CommandError for a time that is none.
  [[nodiscard]] ClientOptions options() const;

 private:
  std::optional<double> timeout_seconds_;
};

/// Does the work of a command; an error of the client becomes a CommandError: kUsage for a URL, an encoding or inputs
/// that are refused, else kFailure.
[[nodiscard]] ExitCode with_client_errors(const std::function<ExitCode()>& work);

}  // namespace tessera
