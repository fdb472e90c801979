// A call of an endpoint, free of HTTP: from the text of a body to a checked result.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/array_reader.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/value.h"
#include "tessera/tesseract/definition.h"
#include "tessera/tesseract/problem.h"

namespace tessera {

/// A request that passed every check. Owns its values.
struct Call {
  Endpoint endpoint = Endpoint::kApply;
  Object inputs;
  PathSet input_paths;   ///< jac_inputs, jvp_inputs, vjp_inputs
  PathSet output_paths;  ///< jac_outputs, jvp_outputs, vjp_outputs
  Object vector;         ///< tangents or cotangents, by path
};

/// What reading a body gives: a call; problems for a 422; or a fault that is a 400 (nesting, no UTF-8). Syntax faults
/// are problems (json_invalid).
using CallOrFault = std::variant<Call, std::vector<Problem>, JsonFault>;

/// Reads and checks a JSON body for an endpoint; all problems together, in schema order, unknown keys last. Problems
/// borrow `body`. Safe to call from any thread. Requires: definition.has(endpoint).
[[nodiscard]] CallOrFault read_call(const TesseractDefinition& definition, Endpoint endpoint, std::string_view body,
                                    const ArrayReader& arrays, JsonScanner::Limits limits = {});

/// The problem of a body that is not called JSON by its Content-Type (PROTOCOL.md section 7.2); `body` is shown.
[[nodiscard]] std::vector<Problem> not_called_json(std::string_view body);

/// Runs the endpoint and checks what it returns against the schema, as section 4 says for each endpoint (casts,
/// broadcasts, keys in the order of the schema). Never throws. For abstract_eval, `with_all_fields` adds the fields
/// that were not set (over HTTP, not on the command line).
[[nodiscard]] std::variant<Object, EndpointFailure> run_call(const TesseractDefinition& definition, const Call& call,
                                                             Context& context, bool with_all_fields);

}  // namespace tessera
