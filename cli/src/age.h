// An age as a command line has it.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tessera {

/// Reads an age: `90s`, `30m`, `24h`, `7d`, a number of 32 bits at most; nothing for other texts.
[[nodiscard]] std::optional<std::chrono::seconds> parse_age(std::string_view text);

}  // namespace tessera
