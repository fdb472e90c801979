// Arrays as the targets choose, write, read and compare them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "input.h"
#include "tessera/array/array.h"
#include "tessera/array/array_reader.h"
#include "tessera/array/arriving_text.h"
#include "tessera/array/encoding.h"
#include "tessera/array/shape.h"

namespace tessera::fuzzing {

/// Larger arrays are refused, so that a short input cannot take much time.
inline constexpr std::uint64_t kMaxArrayBytes = std::uint64_t{4} << 20;

/// One of the 14 element types.
[[nodiscard]] DType pick_dtype(Input& input);
/// What a field may declare: any dtype or one, any shape or one of several.
[[nodiscard]] ArraySpec pick_spec(Input& input);
/// A shape of at most three axes, of sizes below 256.
[[nodiscard]] Shape pick_shape(Input& input);

/// The text of an array object around the text of its buffer (JSON, with its quotes if it has some).
[[nodiscard]] std::string array_object(DType dtype, const Shape& shape, std::string_view buffer,
                                       std::string_view encoding, bool is_compressed);
/// A text in quotes.
[[nodiscard]] std::string json_text(std::string_view text);

/// What a reader makes of a whole text; nothing if it refuses it or the text is no JSON.
[[nodiscard]] std::optional<Array> read_array(const ArrayReader& reader, std::string_view text,
                                              const ArraySpec& spec = {});
/// The array in an encoding that needs no file.
[[nodiscard]] std::string written(const Array& array, const Encoding& encoding);

/// A text that has come in pieces of so many characters, and is folded wherever it can be.
[[nodiscard]] ArrivingText arrive(std::string_view text, std::size_t piece);

/// Whether both have one dtype, one shape and the same bytes.
[[nodiscard]] bool are_same(const Array& left, const Array& right);
/// Whether `read` is what JSON keeps of `array`: infinities become NaN, and the sign of a zero may be lost in complex
/// numbers.
[[nodiscard]] bool is_kept_by_json(const Array& array, const Array& read);

}  // namespace tessera::fuzzing
