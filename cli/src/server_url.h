// URLs of servers and of Tesseracts below them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// The URL without the last name of its path: "http://h:1/a/b" → "http://h:1/a", "unix:/s:/a" → "unix:/s"; nothing if
/// it has no path.
[[nodiscard]] std::optional<std::string> without_last_name(std::string_view url);

}  // namespace tessera
