#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "closest_word.h"
#include "command.h"
#include "command_line.h"
#include "config_flags.h"
#include "crash_handler.h"
#include "endpoint_run.h"
#include "modules.h"
#include "payload_text.h"
#include "result_channel.h"

namespace tessera {
namespace {

constexpr const char* kRunFooter =
    R"(COMMAND is apply, jacobian, jacobian-vector-product, vector-jacobian-product, abstract-eval,
test, health or openapi-schema, as far as the Tesseract has it. PAYLOAD is what would be the
body of an HTTP request: JSON text, or @FILE. Options may stand anywhere.

Standard output holds the result and nothing else; what the Tesseract prints goes to standard
error and to logs/tesseract.log below the output path.
Exit codes: 0 done, 1 something failed, 2 wrong command line or payload.

Examples:
  tessera run vectoradd apply '{"inputs": {"a": [1, 2], "b": [3, 4]}}'
  tessera run vectoradd apply -f json+base64 @examples/vectoradd/example_inputs.json
  tessera run vectoradd apply -f json+binref -o /tmp/output @examples/vectoradd/example_inputs.json
  tessera run ./heat openapi-schema)";

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += (text.empty() ? "" : ", ") + word;
  }
  return text;
}

// The command as endpoint_commands() writes it. Throws CommandError if the Tesseract does not have it.
std::string known_command(const std::string& word, const TesseractDefinition& definition) {
  const std::vector<std::string> commands = endpoint_commands(definition);
  if (word.empty()) {
    throw CommandError(ExitCode::kUsage, "Missing argument 'COMMAND': one of " + joined(commands) + ".");
  }
  std::string command = word;
  std::ranges::replace(command, '_', '-');
  if (std::ranges::find(commands, command) == commands.end()) {
    std::string text = "No such command '" + word + "'.";
    if (const auto closest = find_closest_word(command, commands)) {
      text += " Did you mean '" + *closest + "'?";
    }
    throw CommandError(ExitCode::kUsage, text + "\n'" + definition.name() + "' has " + joined(commands) + ".");
  }
  return command;
}

std::string payload_for(const std::string& command, const std::optional<std::string>& word) {
  if (takes_payload(command) && !word) {
    throw CommandError(ExitCode::kUsage, "Missing argument 'payload'.");
  }
  if (!takes_payload(command) && word) {
    throw CommandError(ExitCode::kUsage, "Got unexpected extra argument(s) (" + *word + ")");
  }
  return word ? text_of_payload(*word) : "";
}

}  // namespace

ExitCode run_command(Arguments arguments) {
  CLI::App app("Runs one endpoint of a Tesseract and prints its result.", "tessera run");
  std::string name;
  std::string command_word;
  std::optional<std::string> payload_word;
  ConfigFlags flags;
  app.footer(kRunFooter);
  app.add_option("NAME_OR_PATH", name, "The Tesseract: a name that `tessera list` shows, or the path of a module")
      ->required();
  app.add_option("COMMAND", command_word, "What to run, see below");
  app.add_option("PAYLOAD", payload_word, "JSON text, or @FILE");
  flags.add_to(app);
  flags.add_output_file_to(app);
  if (!read_command_line(app, arguments)) {
    return ExitCode::kSuccess;
  }

  const RuntimeConfig config = flags.load();
  tell_of_crashes(false);
  const ResultChannel channel;
  const std::shared_ptr<const TesseractDefinition> definition = load_tesseract(name);
  const std::string command = known_command(command_word, *definition);
  run_endpoint(*definition, command, payload_for(command, payload_word), config, channel);
  return ExitCode::kSuccess;
}

}  // namespace tessera
