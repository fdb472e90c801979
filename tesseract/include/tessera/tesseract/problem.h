// What a validator finds wrong in a request: one Problem for each item of a 422 (PROTOCOL.md section 7).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/array/array_fault.h"
#include "tessera/array/value.h"

namespace tessera {

/// A place in a body: keys and positions (from 0; of kJsonInvalid in characters) from the outside in; the outermost is
/// "body".
using Place = std::vector<std::variant<std::string, std::int64_t>>;

/// One fault. `input` is JSON text and borrows the request body, which outlives it. A plain value.
struct Problem {
  enum class Kind {
    kMissing,
    kExtraForbidden,
    kJsonInvalid,  ///< text: Python's words
    kModelAttributesType,
    kStringType,
    kStringTooShort,         ///< bound
    kStringTooLong,          ///< bound
    kStringPatternMismatch,  ///< text: the pattern
    kStringUnicode,          ///< a lone surrogate
    kIntType,
    kIntFromFloat,
    kIntParsing,
    kIntParsingSize,
    kFloatType,
    kFloatParsing,
    kFiniteNumber,
    kBoolType,
    kBoolParsing,
    kLiteralError,  ///< text: the choices, as listed
    kEnum,          ///< text: the choices, as listed
    kListType,
    kDictType,
    kSetType,
    kTupleType,
    kTooShort,     ///< text: "List", "Set", "Dictionary"; bound, count
    kTooLong,      ///< the same
    kGreaterThan,  ///< bound
    kGreaterThanEqual,
    kLessThan,
    kLessThanEqual,
    kValueError,  ///< text: without "Value error, "
    kArray,       ///< array: which of its kinds
  };
  Kind kind = Kind::kMissing;
  Place place;
  std::string_view input;  ///< the JSON text of the offending value; empty: `null`, or `{}` for kJsonInvalid
  std::string input_text;  ///< the offending value where it is no part of a JSON body: shown as a string
  bool input_is_text = false;
  std::string text;        ///< as the kind says
  Value bound;             ///< integer or double
  std::int64_t count = 0;  ///< the actual length
  std::optional<ArrayFault> array;
};

/// The body of a 422, `{"detail":[…]}`, in pydantic's types and words (PROTOCOL.md sections 7.2 and 7.3). An input
/// above 64 KiB, or beyond 1 MiB for all of an answer, is shown as its size: `"…(70000 bytes)"` (section 17). Ends with
/// the problem that makes it larger than 4 MiB. Safe to call from any thread, like the next.
[[nodiscard]] std::string problems_to_json(const std::vector<Problem>& problems);

/// The same for people: "1 validation error for ApplyInputSchema\ninputs.b\n  Field required [type=missing, …]". Inputs
/// are shown up to 200 bytes.
[[nodiscard]] std::string problems_to_text(const std::vector<Problem>& problems, std::string_view title);

}  // namespace tessera
