// Numbers in texts, as Python's float(), complex() and pydantic's lax int take them (PROTOCOL.md sections 3 and 6). All
// are safe to call from any thread.
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// What `float(text)` gives; nothing where it raises. White space and digits are ASCII.
[[nodiscard]] std::optional<double> parse_python_float(std::string_view text);

/// What `complex(text)` gives; nothing where it raises.
[[nodiscard]] std::optional<std::complex<double>> parse_python_complex(std::string_view text);

/// A whole number as a text, cut to 64 bits: beyond them the nearest limit. Takes a sign, zeros in front, `.0` at the
/// end, and single underscores between digits.
[[nodiscard]] std::optional<std::int64_t> parse_lax_integer(std::string_view text);

}  // namespace tessera
