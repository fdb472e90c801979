#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <iostream>
#include <optional>
#include <string>

#include "client_options.h"
#include "command.h"
#include "command_line.h"
#include "payload_text.h"
#include "probe.h"
#include "probe_report.h"

namespace tessera {

ExitCode probe_command(Arguments arguments) {
  CLI::App app("Says what a server offers, what of it works from here, and how fast it is.", "tessera probe");
  std::string url;
  bool as_json = false;
  std::optional<std::string> payload;
  std::optional<std::string> input_path;
  ConnectionFlags flags;
  add_url_to(app, url);
  app.add_flag("--json", as_json, "Print JSON");
  app.add_option("--apply", payload,
                 "JSON text, or @FILE: run `apply` with this body, in every encoding that the server offers. Without "
                 "it, nothing is computed: arrays go in calls that the server refuses once it has read them");
  app.add_option("--server-input-path", input_path,
                 "The folder that the server reads files from, as this machine has it");
  flags.add_to(app);
  app.footer(
      "Exit codes: 0 the server can be used, 1 it cannot, 2 wrong command line.\n\n"
      "Examples:\n  tessera probe http://127.0.0.1:8000/identity\n  tessera probe --json "
      "unix:/run/tessera.sock:/identity\n"
      "  tessera probe 127.0.0.1:8000/vectoradd --apply @examples/vectoradd/example_inputs.json");
  if (!read_command_line(app, arguments)) {
    return ExitCode::kSuccess;
  }
  return with_client_errors([&] {
    ProbeOptions options;
    options.client = flags.options();
    if (input_path) {
      options.client.server_input_path = *input_path;
    }
    if (payload) {
      options.apply_payload = text_of_payload(*payload);
    }
    const ProbeResult result = probe(url, options);
    std::cout << (as_json ? json_of(result) + "\n" : text_of(result));
    return ExitCode::kSuccess;
  });
}

}  // namespace tessera
