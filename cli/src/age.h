// Ages and short times as a command line has them.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace tessera {

/// Reads an age: `90s`, `30m`, `24h`, `7d`, a number of 32 bits at most; nothing for other texts.
[[nodiscard]] std::optional<std::chrono::seconds> parse_age(std::string_view text);

/// Reads a short time: `100us`, `2ms`, or `0`, at most a second; nothing for other texts.
[[nodiscard]] std::optional<std::chrono::microseconds> parse_short_time(std::string_view text);

}  // namespace tessera
