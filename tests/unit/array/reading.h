// What the tests of arrays that come in share: reading from text, and looking at what came out.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/array_reader.h"

namespace tessera::testing {

using Read = std::variant<Array, ArrayFault>;

inline const ArraySpec kAny;
inline const ArraySpec kDoubles{DType::kFloat64, Shape{kFreeAxis}};

inline Read read(std::string_view text, const ArraySpec& spec = kAny, ArrayReader::Limits limits = {}) {
  JsonScanner scanner(text);
  Read result = ArrayReader(nullptr, limits).read(scanner, spec);
  scanner.expect_end();
  EXPECT_FALSE(scanner.has_fault()) << text;
  return result;
}

inline Array array_of(const Read& result) {
  const auto* const fault = std::get_if<ArrayFault>(&result);
  EXPECT_EQ(fault, nullptr) << static_cast<int>(fault->kind) << " " << fault->reason;
  return fault == nullptr ? std::get<Array>(result) : Array();
}

inline ArrayFault fault_of(const Read& result) {
  const auto* const fault = std::get_if<ArrayFault>(&result);
  EXPECT_NE(fault, nullptr);
  return fault == nullptr ? ArrayFault{} : *fault;
}

template <class T>
std::vector<T> elements(const Array& array) {
  const auto values = array.values<T>();
  return {values.begin(), values.end()};
}

inline std::string object(const std::string& shape, const std::string& dtype, const std::string& data) {
  return R"({"shape":)" + shape + R"(,"dtype":")" + dtype + R"(","data":{)" + data + "}}";
}

inline std::string json_object(const std::string& shape, const std::string& dtype, const std::string& buffer) {
  return object(shape, dtype, R"("buffer":)" + buffer + R"(,"encoding":"json")");
}

inline std::string base64_object(const std::string& shape, const std::string& dtype, const std::string& buffer) {
  return object(shape, dtype, R"("buffer":")" + buffer + R"(","encoding":"base64")");
}

}  // namespace tessera::testing
