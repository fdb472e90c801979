// Nested lists of JSON numbers, read into one buffer of 8-byte slots, with the element type that NumPy would infer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/array/buffer.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/shape.h"

namespace tessera {

/// What was read. Each element is one slot: an int64, uint64 or double as `kind` says; booleans are int64 0 or 1.
struct NumberList {
  enum class Kind { kBool, kInt64, kUInt64, kFloat64 };
  Kind kind = Kind::kFloat64;
  Shape shape;
  Buffer slots;            ///< at least `count` slots, unless has_other
  std::size_t count = 0;   ///< of leaves, whatever they are
  bool has_other = false;  ///< a leaf is null, a text, an object or a whole number beyond 64 bits
  /// With keeps_integers: one integer is negative and one above 2^63-1, so that no integer type holds them all. The
  /// slots of integers are of no use then; these are the extremes.
  bool has_both_extremes = false;
  std::int64_t lowest = 0;
  std::uint64_t highest = 0;
  std::optional<std::string> ragged;  ///< NumPy's words, if rows differ in length or depth
};

/// How to read.
struct NumberListOptions {
  bool as_doubles = false;         ///< every number as a double, whatever it is
  bool keeps_integers = false;     ///< integers below and above 2^63 together stay integers; NumPy makes them doubles
  std::size_t expected_count = 0;  ///< room for so many, no more than the text can hold; 0 = not known
};

/// Reads the value that stands at the scanner: a list, or a bare leaf. Throws std::bad_alloc.
[[nodiscard]] NumberList read_number_list(JsonScanner& scanner, const NumberListOptions& options);

}  // namespace tessera
