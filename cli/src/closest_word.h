// The word that somebody probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace tessera {

/// The candidate that the fewest typing errors lead from to `word`; nothing if all are too far off.
[[nodiscard]] std::optional<std::string> find_closest_word(std::string_view word,
                                                           std::span<const std::string> candidates);

}  // namespace tessera
