// Requests to definitions as the tests of this folder make them.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/tesseract/call.h"

namespace tessera::testing {

inline Type vector_of_float64() {
  return array(DType::kFloat64, {kFreeAxis});
}

/// Reads a body without files.
inline CallOrFault read(const TesseractDefinition& definition, Endpoint endpoint, std::string_view body) {
  const ArrayReader arrays(nullptr, {});
  return read_call(definition, endpoint, body, arrays);
}

/// The items of the 422 that a body gets; null, and a failure of the test, if it gets none.
inline nlohmann::json items_of(const TesseractDefinition& definition, Endpoint endpoint, std::string_view body) {
  const CallOrFault answer = read(definition, endpoint, body);
  const auto* problems = std::get_if<std::vector<Problem>>(&answer);
  if (problems == nullptr) {
    ADD_FAILURE() << "no problem was found in " << body.substr(0, 200);
    return nullptr;
  }
  return nlohmann::json::parse(problems_to_json(*problems)).at("detail");
}

/// The call that a body makes; an empty one, and a failure of the test, if it is refused.
inline Call call_of(const TesseractDefinition& definition, Endpoint endpoint, std::string_view body) {
  CallOrFault answer = read(definition, endpoint, body);
  if (auto* call = std::get_if<Call>(&answer)) {
    return std::move(*call);
  }
  if (const auto* problems = std::get_if<std::vector<Problem>>(&answer)) {
    ADD_FAILURE() << problems_to_text(*problems, std::string(body.substr(0, 200)));
  } else {
    ADD_FAILURE() << std::get<JsonFault>(answer).text;
  }
  return {};
}

/// A Tesseract that hands its inputs back.
inline TesseractDefinition echo_of(const Schema& inputs) {
  return TesseractDefinition("echo").inputs(inputs).outputs(inputs).apply(
      [](const Object& given, Context& /*context*/) { return given; });
}

}  // namespace tessera::testing
