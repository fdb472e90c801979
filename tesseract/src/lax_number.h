// Numbers in texts, as pydantic's lax mode reads them (PROTOCOL.md section 6.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

namespace tessera {

/// Why a text is no integer of 64 bits.
enum class IntegerFault { kNotOne, kTooLarge };

/// Reads `7`, ` +7 `, `7.0`, `1_000`: white space around, a sign, single underscores between digits, a fraction of
/// zeros. What is above 2^63-1 comes back unsigned.
[[nodiscard]] std::variant<std::int64_t, std::uint64_t, IntegerFault> read_lax_integer(std::string_view text);

/// Reads `2.5`, ` .5e3 `, `1_000.5`, `nan`, `-Infinity`; what is too large is infinite.
[[nodiscard]] std::optional<double> read_lax_number(std::string_view text);

}  // namespace tessera
