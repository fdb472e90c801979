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

/// A request that passed every check (PROTOCOL.md sections 4.2 to 4.4). Owns its values.
struct Call {
  Endpoint endpoint = Endpoint::kApply;
  Object inputs;         ///< as cast, stretched and completed
  PathSet input_paths;   ///< jac_inputs, jvp_inputs, vjp_inputs
  PathSet output_paths;  ///< jac_outputs, jvp_outputs, vjp_outputs
  Object vector;         ///< tangents or cotangents, by path, as cast and stretched
};

/// What reading a body gives: a call; problems for a 422; or a fault that is a 400 (nesting, no UTF-8). Syntax faults
/// are problems (json_invalid).
using CallOrFault = std::variant<Call, std::vector<Problem>, JsonFault>;

/// Reads and checks a JSON body for an endpoint (PROTOCOL.md sections 4, 6 and 7); all problems together, at most 1000,
/// in schema order, unknown keys last. Problems borrow `body`. `options` bound the nesting (kTooDeep beyond). Throws
/// std::bad_alloc. Safe to call from any thread. Requires: definition.has(endpoint).
[[nodiscard]] CallOrFault read_call(const TesseractDefinition& definition, Endpoint endpoint, std::string_view body,
                                    const ArrayReader& arrays, JsonScanner::Options options = {});

/// The problem of a body that is not called JSON by its Content-Type (PROTOCOL.md section 7.2); `body` is shown
/// (copied up to 64 KiB; beyond, its size is shown). Safe to call from any thread.
[[nodiscard]] std::vector<Problem> not_called_json(std::string_view body);

/// Runs the endpoint and checks what it returns against the schema, as PROTOCOL.md section 4 says for each endpoint
/// (casts, broadcasts, keys in the order of the schema). Never throws. May be called from several threads. Requires:
/// definition.has(call.endpoint). `context` outlives the call. For abstract_eval, `with_all_fields` adds the fields
/// that were not set (over HTTP, not on the command line).
[[nodiscard]] std::variant<Object, EndpointFailure> run_call(const TesseractDefinition& definition, const Call& call,
                                                             Context& context, bool with_all_fields);

}  // namespace tessera
