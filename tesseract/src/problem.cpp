#include "tessera/tesseract/problem.h"

#include <array>
#include <charconv>

#include "problem_text.h"
#include "tessera/array/json_number.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/ascii.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

using Kind = Problem::Kind;

// An offending value is shown up to this size, all of one answer together up to the second; what is larger is shown as
// its size, so that an answer never grows to a multiple of the request.
constexpr std::size_t kMaxInputBytes = std::size_t{64} << 10;
constexpr std::size_t kMaxInputsBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxInputBytesForPeople = 200;
// Beyond this no further problem is told: places may be deep, and are told anew for each.
constexpr std::size_t kMaxAnswerBytes = std::size_t{4} << 20;

/// What does not depend on the value: pydantic's name of a kind and the beginning of its message.
struct Wording {
  Kind kind;
  std::string_view type;
  std::string_view message;
};

constexpr std::array kWordings = {
    Wording{Kind::kMissing, "missing", "Field required"},
    Wording{Kind::kExtraForbidden, "extra_forbidden", "Extra inputs are not permitted"},
    Wording{Kind::kJsonInvalid, "json_invalid", "JSON decode error"},
    Wording{Kind::kModelAttributesType, "model_attributes_type",
            "Input should be a valid dictionary or object to extract fields from"},
    Wording{Kind::kStringType, "string_type", "Input should be a valid string"},
    Wording{Kind::kStringTooShort, "string_too_short", "String should have at least "},
    Wording{Kind::kStringTooLong, "string_too_long", "String should have at most "},
    Wording{Kind::kStringPatternMismatch, "string_pattern_mismatch", "String should match pattern "},
    Wording{Kind::kStringUnicode, "string_unicode",
            "Input should be a valid string, unable to parse raw data as a unicode string"},
    Wording{Kind::kIntType, "int_type", "Input should be a valid integer"},
    Wording{Kind::kIntFromFloat, "int_from_float",
            "Input should be a valid integer, got a number with a fractional part"},
    Wording{Kind::kIntParsing, "int_parsing", "Input should be a valid integer, unable to parse string as an integer"},
    Wording{Kind::kIntParsingSize, "int_parsing_size",
            "Unable to parse input string as an integer, exceeded maximum size"},
    Wording{Kind::kFloatType, "float_type", "Input should be a valid number"},
    Wording{Kind::kFloatParsing, "float_parsing", "Input should be a valid number, unable to parse string as a number"},
    Wording{Kind::kFiniteNumber, "finite_number", "Input should be a finite number"},
    Wording{Kind::kBoolType, "bool_type", "Input should be a valid boolean"},
    Wording{Kind::kBoolParsing, "bool_parsing", "Input should be a valid boolean, unable to interpret input"},
    Wording{Kind::kLiteralError, "literal_error", "Input should be "},
    Wording{Kind::kEnum, "enum", "Input should be "},
    Wording{Kind::kListType, "list_type", "Input should be a valid list"},
    Wording{Kind::kDictType, "dict_type", "Input should be a valid dictionary"},
    Wording{Kind::kSetType, "set_type", "Input should be a valid set"},
    Wording{Kind::kTupleType, "tuple_type", "Input should be a valid tuple"},
    Wording{Kind::kTooShort, "too_short", " should have at least "},
    Wording{Kind::kTooLong, "too_long", " should have at most "},
    Wording{Kind::kGreaterThan, "greater_than", "Input should be greater than "},
    Wording{Kind::kGreaterThanEqual, "greater_than_equal", "Input should be greater than or equal to "},
    Wording{Kind::kLessThan, "less_than", "Input should be less than "},
    Wording{Kind::kLessThanEqual, "less_than_equal", "Input should be less than or equal to "},
    Wording{Kind::kValueError, "value_error", "Value error, "},
    Wording{Kind::kArray, "", ""},  // by the kind of its ArrayFault
};

constexpr bool is_in_order_of_kinds() {
  for (std::size_t i = 0; i < kWordings.size(); ++i) {
    if (static_cast<std::size_t>(kWordings[i].kind) != i) {
      return false;
    }
  }
  return kWordings.size() == static_cast<std::size_t>(Kind::kArray) + 1;
}
static_assert(is_in_order_of_kinds());

const Wording& wording_of(Kind kind) {
  return kWordings[static_cast<std::size_t>(kind)];
}

/// Rust's spelling of a number, in which pydantic words its messages: no exponent, no `.0`.
std::string bound_text(const Value& bound) {
  if (bound.kind() == Value::Kind::kInt) {
    return std::to_string(bound.integer());
  }
  std::array<char, 512> digits{};
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), bound.number(), std::chars_format::fixed);
  return {digits.data(), end.ptr};
}

std::string bound_json(const Value& bound) {
  std::array<char, kMaxDoubleLength> digits{};
  char* end = bound.kind() == Value::Kind::kInt ? write_json_integer(digits.data(), bound.integer())
                                                : write_json_double(digits.data(), bound.number());
  return {digits.data(), end};
}

std::string counted(const Value& bound, std::string_view noun) {
  const std::string number = bound_text(bound);
  return number + " " + std::string(noun) + (number == "1" ? "" : "s");
}

std::string_view dtype_text(const std::optional<DType>& dtype) {
  return dtype ? name_of(*dtype) : std::string_view("None");
}

std::string json_text(std::string_view text) {
  std::string json;
  append_json_text(json, text);
  return json;
}

std::string sizes_json(const Shape& shape) {
  std::string json = "[";
  for (const std::int64_t size : shape) {
    json += json.size() > 1 ? "," : "";
    json += size < 0 ? "null" : std::to_string(size);
  }
  return json + "]";
}

/// The type, message and ctx of an array item (PROTOCOL.md sections 6.2 and 7.3).
struct ArrayWords {
  std::string_view type;
  std::string message;
  std::string ctx;
};

ArrayWords words_of(const ArrayFault& fault) {
  switch (fault.kind) {
    case ArrayFault::Kind::kNonNumeric:
      break;
    case ArrayFault::Kind::kRagged:
      return {"value_error", "Value error, " + fault.reason, R"({"error":{}})"};
    case ArrayFault::Kind::kDecode:
      return {"array_decode_error", "Failed to decode array buffer (" + fault.encoding + " encoding): " + fault.reason,
              "{\"encoding\":" + json_text(fault.encoding) + ",\"error\":" + json_text(fault.reason) + "}"};
    case ArrayFault::Kind::kDimensionality: {
      const std::string actual = std::to_string(fault.actual_shape.size());
      const std::string expected = std::to_string(fault.expected_shape.size());
      return {"array_dimensionality_mismatch",
              "Array has wrong number of dimensions: got " + actual + "D, expected " + expected + "D",
              "{\"actual_dims\":" + actual + ",\"expected_dims\":" + expected + "}"};
    }
    case ArrayFault::Kind::kShape:
      return {"array_shape_mismatch",
              "Array shape " + python_tuple(fault.actual_shape) + " is incompatible with expected shape " +
                  python_tuple(fault.expected_shape),
              "{\"actual_shape\":" + sizes_json(fault.actual_shape) +
                  ",\"expected_shape\":" + sizes_json(fault.expected_shape) + "}"};
    case ArrayFault::Kind::kDType: {
      const std::string actual(dtype_text(fault.actual_dtype));
      const std::string expected(dtype_text(fault.expected_dtype));
      if (!fault.reason.empty()) {
        return {"array_dtype_mismatch",
                "Array dtype '" + actual + "' does not match expected dtype '" + expected + "' (" + fault.reason + ")",
                R"({"actual_dtype":")" + actual + R"(","expected_dtype":")" + expected + R"(","no_cast_reason":)" +
                    json_text(fault.reason) + "}"};
      }
      return {"array_dtype_mismatch", "Array dtype '" + actual + "' cannot be safely cast to '" + expected + "'",
              R"({"actual_dtype":")" + actual + R"(","expected_dtype":")" + expected + "\"}"};
    }
    case ArrayFault::Kind::kOutOfRange: {
      const std::string expected(dtype_text(fault.expected_dtype));
      return {"array_value_out_of_range",
              "Array values do not fit into dtype '" + expected + "' (e.g. " + fault.value + ")",
              R"({"expected_dtype":")" + expected + R"(","value":)" + json_text(fault.value) + "}"};
    }
    case ArrayFault::Kind::kExpectedInteger:
      return {"array_expected_integer", "Expected integer data, but array contains floating point values", "{}"};
  }
  return {"array_non_numeric", "Could not parse value as a numeric array (contains non-numeric data)", "{}"};
}

/// The ctx, or nothing where the kind has none.
std::string ctx_of(const Problem& problem) {
  const auto with_bound = [&problem](const char* name) {
    return "{\"" + std::string(name) + "\":" + bound_json(problem.bound) + "}";
  };
  const auto with_lengths = [&problem](const char* name) {
    return "{\"field_type\":" + json_text(problem.text) + ",\"" + name + "\":" + bound_json(problem.bound) +
           ",\"actual_length\":" + std::to_string(problem.count) + "}";
  };
  switch (problem.kind) {
    case Kind::kJsonInvalid:
      return "{\"error\":" + json_text(problem.text) + "}";
    case Kind::kStringTooShort:
      return with_bound("min_length");
    case Kind::kStringTooLong:
      return with_bound("max_length");
    case Kind::kStringPatternMismatch:
      return "{\"pattern\":" + json_text(problem.text) + "}";
    case Kind::kLiteralError:
    case Kind::kEnum:
      return "{\"expected\":" + json_text(problem.text) + "}";
    case Kind::kTooShort:
      return with_lengths("min_length");
    case Kind::kTooLong:
      return with_lengths("max_length");
    case Kind::kGreaterThan:
      return with_bound("gt");
    case Kind::kGreaterThanEqual:
      return with_bound("ge");
    case Kind::kLessThan:
      return with_bound("lt");
    case Kind::kLessThanEqual:
      return with_bound("le");
    case Kind::kValueError:
      return R"({"error":{}})";
    case Kind::kArray:
      return words_of(problem.array.value_or(ArrayFault())).ctx;
    default:
      return {};
  }
}

void append_place(std::string& json, const Place& place) {
  json += "[";
  bool is_first = true;
  for (const auto& part : place) {
    json += is_first ? "" : ",";
    is_first = false;
    if (const auto* key = std::get_if<std::string>(&part)) {
      append_json_text(json, *key);
    } else {
      json += std::to_string(std::get<std::int64_t>(part));
    }
  }
  json += "]";
}

/// Whether a number in JSON text has more digits than readers take (Python's stop at 4300, a double at 309).
bool has_endless_number(std::string_view json) {
  constexpr std::size_t kMaxDigits = 300;
  std::size_t digits = 0;
  for (std::size_t i = 0; i < json.size() && digits <= kMaxDigits; ++i) {
    if (json[i] == '"') {
      for (++i; i < json.size() && json[i] != '"'; ++i) {
        i += json[i] == '\\' ? 1 : 0;
      }
      digits = 0;
    } else {
      digits = is_digit(json[i]) ? digits + 1 : 0;
    }
  }
  return digits > kMaxDigits;
}

/// Appends the offending value, or its size if it is larger than `limit`.
void append_input(std::string& json, const Problem& problem, std::size_t limit) {
  const std::string_view shown = problem.input_is_text ? std::string_view(problem.input_text) : problem.input;
  if (shown.size() > limit || (!problem.input_is_text && has_endless_number(shown))) {
    json += "\"…(" + std::to_string(shown.size()) + " bytes)\"";
  } else if (problem.input_is_text) {
    append_json_text(json, shown);
  } else if (shown.empty()) {
    json += problem.kind == Kind::kJsonInvalid ? "{}" : "null";
  } else {
    append_compact_json(json, shown);
  }
}

}  // namespace

std::string_view type_of(const Problem& problem) {
  return problem.kind == Kind::kArray ? words_of(problem.array.value_or(ArrayFault())).type
                                      : wording_of(problem.kind).type;
}

std::string message_of(const Problem& problem) {
  std::string message(wording_of(problem.kind).message);
  switch (problem.kind) {
    case Kind::kStringTooShort:
    case Kind::kStringTooLong:
      return message + counted(problem.bound, "character");
    case Kind::kStringPatternMismatch:
      return message + "'" + problem.text + "'";
    case Kind::kLiteralError:
    case Kind::kEnum:
    case Kind::kValueError:
      return message + problem.text;
    case Kind::kTooShort:
    case Kind::kTooLong:
      return problem.text + message + counted(problem.bound, "item") + " after validation, not " +
             std::to_string(problem.count);
    case Kind::kGreaterThan:
    case Kind::kGreaterThanEqual:
    case Kind::kLessThan:
    case Kind::kLessThanEqual:
      return message + bound_text(problem.bound);
    case Kind::kArray:
      return words_of(problem.array.value_or(ArrayFault())).message;
    default:
      return message;
  }
}

std::string text_of(const Place& place) {
  std::string text;
  for (std::size_t i = 0; i < place.size(); ++i) {
    const auto* key = std::get_if<std::string>(&place[i]);
    if (i == 0 && key != nullptr && *key == "body") {
      continue;
    }
    text += text.empty() ? "" : ".";
    text += key != nullptr ? *key : std::to_string(std::get<std::int64_t>(place[i]));
  }
  return text;
}

std::string problems_to_json(const std::vector<Problem>& problems) {
  std::string json = R"({"detail":[)";
  std::size_t inputs_bytes = 0;
  for (const Problem& problem : problems) {
    if (json.size() > kMaxAnswerBytes) {
      break;
    }
    json += json.back() == '[' ? R"({"type":")" : R"(,{"type":")";
    json += type_of(problem);
    json += R"(","loc":)";
    append_place(json, problem.place);
    json += ",\"msg\":";
    append_json_text(json, message_of(problem));
    json += ",\"input\":";
    const std::size_t before = json.size();
    append_input(json, problem, std::min(kMaxInputBytes, kMaxInputsBytes - std::min(kMaxInputsBytes, inputs_bytes)));
    inputs_bytes += json.size() - before;
    if (const std::string ctx = ctx_of(problem); !ctx.empty()) {
      json += ",\"ctx\":" + ctx;
    }
    json += "}";
  }
  return json + "]}";
}

std::string problems_to_text(const std::vector<Problem>& problems, std::string_view title) {
  std::string text = std::to_string(problems.size()) + " validation error" + (problems.size() == 1 ? "" : "s") +
                     " for " + std::string(title);
  for (const Problem& problem : problems) {
    const std::string place = text_of(problem.place);
    text += (place.empty() ? "" : "\n" + place) + "\n  " + message_of(problem) + " [type=";
    text += type_of(problem);
    text += ", input=";
    append_input(text, problem, kMaxInputBytesForPeople);
    text += "]";
  }
  return text;
}

}  // namespace tessera
