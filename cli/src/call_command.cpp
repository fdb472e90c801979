#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "client_options.h"
#include "closest_word.h"
#include "command.h"
#include "command_line.h"
#include "payload_text.h"
#include "tessera/sdk/tesseract.h"

namespace tessera {
namespace {

constexpr const char* kCallFooter =
    R"(ENDPOINT is apply, jacobian, jacobian-vector-product, vector-jacobian-product, abstract-eval,
test, health or openapi-schema, as far as the server has it. PAYLOAD is the body of the request:
JSON text, or @FILE. Standard output holds the body of the answer as it came, and nothing else.
Exit codes: 0 done, 1 something failed, 2 wrong command line, or inputs that were refused.

Examples:
  tessera call http://127.0.0.1:8000/vectoradd apply '{"inputs": {"a": [1, 2], "b": [3, 4]}}'
  tessera call unix:/run/tessera.sock:/vectoradd apply -f json+base64 @inputs.json
  tessera call 127.0.0.1:8000/vectoradd health)";

// The routes without a body, as the command line has them.
std::string route_of(const std::string& endpoint) {
  std::string route = endpoint;
  std::ranges::replace(route, '-', '_');
  return route == "openapi_schema" ? "openapi.json" : route;
}

// Throws CommandError for a route that the server does not state.
void check_endpoint(const Tesseract& tesseract, const std::string& word, const std::string& route) {
  std::vector<std::string> endpoints = tesseract.available_endpoints();
  if (std::ranges::find(endpoints, route) != endpoints.end()) {
    return;
  }
  endpoints.emplace_back("openapi-schema");
  std::ranges::for_each(endpoints, [](std::string& name) { std::ranges::replace(name, '_', '-'); });
  std::string text = "No such endpoint '" + word + "'.";
  if (const auto closest = find_closest_word(word, endpoints)) {
    text += " Did you mean '" + *closest + "'?";
  }
  text += "\n" + tesseract.url() + " has ";
  for (const std::string& name : endpoints) {
    text += (name == endpoints.front() ? "" : ", ") + name;
  }
  throw CommandError(ExitCode::kUsage, text + ".");
}

}  // namespace

ExitCode call_command(Arguments arguments) {
  CLI::App app("Calls a Tesseract that is served, and prints the answer.", "tessera call");
  std::string url;
  std::string endpoint;
  std::optional<std::string> payload;
  CallOptions call;
  ConnectionFlags flags;
  RequestedEncoding encoding;
  app.footer(kCallFooter);
  add_url_to(app, url);
  app.add_option("ENDPOINT", endpoint, "What to call, see below")->required();
  app.add_option("PAYLOAD", payload, "JSON text, or @FILE");
  app.add_option("-f,--output-format", encoding.output_format, "json, json+base64 or json+binref");
  app.add_option("--compression", encoding.compression, "none or lz4: of buffers in the answer");
  app.add_option("--run-id", call.run_id, "The server keeps the files of the run under this name");
  flags.add_to(app);
  if (!read_command_line(app, arguments)) {
    return ExitCode::kSuccess;
  }
  return with_client_errors([&] {
    const std::string route = route_of(endpoint);
    const bool has_body = route != "health" && route != "openapi.json";
    if (has_body && !payload) {
      throw CommandError(ExitCode::kUsage, "Missing argument 'PAYLOAD'.");
    }
    if (!has_body && payload) {
      throw CommandError(ExitCode::kUsage, "Got unexpected extra argument(s) (" + *payload + ")");
    }
    const std::optional<std::string> text = has_body ? std::optional(text_of_payload(*payload)) : std::nullopt;
    Tesseract tesseract = Tesseract::from_url(url, flags.options());
    if (has_body) {
      check_endpoint(tesseract, endpoint, route);
      tesseract = tesseract.with_encoding(encoding);
    }
    std::cout << tesseract.call_text(route, text, call) << '\n';
    return ExitCode::kSuccess;
  });
}

}  // namespace tessera
