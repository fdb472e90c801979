// One run of one endpoint from the command line, from the payload to the result (PROTOCOL.md section 12.1).
#pragma once

#include <string>
#include <vector>

#include "result_channel.h"
#include "tessera/daemon/config.h"
#include "tessera/tesseract/definition.h"

namespace tessera {

/// The commands that a Tesseract has: its endpoints, written with dashes, and test, health, openapi-schema.
[[nodiscard]] std::vector<std::string> endpoint_commands(const TesseractDefinition& definition);
/// Whether a command takes a payload.
[[nodiscard]] bool takes_payload(const std::string& command);

/// Checks the payload, runs the endpoint with its log in the output path, and writes the result where `config` says.
/// Nothing is written anywhere if the payload is refused. `payload` is the JSON text, empty for a command that takes
/// none. Throws CommandError. Requires: `command` is one of endpoint_commands().
void run_endpoint(const TesseractDefinition& definition, const std::string& command, const std::string& payload,
                  const RuntimeConfig& config, const ResultChannel& channel);

}  // namespace tessera
