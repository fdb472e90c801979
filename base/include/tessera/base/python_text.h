// Python's spelling of texts, numbers and tuples, which error bodies of the protocol quote. All are safe to
// call from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// `repr(str)`: in single quotes, or in double quotes if it holds a single quote and no double one; backslashes and
/// unprintable characters escaped, and half a surrogate pair and stray bytes with them. `text` is UTF-8 (PROTOCOL.md
/// section 3).
[[nodiscard]] std::string python_repr(std::string_view text);
/// `repr(float)`: shortest digits, `1e+40`, `1e-05`, `100000.0`, `1e+16`, `nan`, `inf` (PROTOCOL.md section 6.2, step
/// 4).
[[nodiscard]] std::string python_repr(double number);
/// `repr(complex)`: `(1e+40+0j)`, `1j` (the same step).
[[nodiscard]] std::string python_repr_complex(double real, double imaginary);
/// `str(tuple)` of sizes: `()`, `(2,)`, `(2, 3)`; a negative size is `None` (a free axis)
/// (PROTOCOL.md sections 4.4 and 6.2, step 2).
[[nodiscard]] std::string python_tuple(std::span<const std::int64_t> sizes);
/// The same with negative sizes as they are: `(-2, 3)`. For shapes that came from outside.
[[nodiscard]] std::string python_shape(std::span<const std::int64_t> sizes);
/// Texts joined as pydantic lists choices: `'a'`, `'a' or 'b'`, `'a', 'b' or 'c'`; the parts are given as they shall
/// stand (PROTOCOL.md sections 4.3 and 6.3).
[[nodiscard]] std::string python_choices(std::span<const std::string> parts);

}  // namespace tessera
