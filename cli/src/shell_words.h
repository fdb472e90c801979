// Words as a shell tells them apart.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

/// Splits at blanks outside of quotes, and takes the quotes away: '…' as it is, "…" and bare words with \ before a
/// character that stands for itself (in "…" only before " \ $ and `). Nothing if a quote is not closed. Safe to call
/// from any thread.
[[nodiscard]] std::optional<std::vector<std::string>> split_shell_words(std::string_view text);

}  // namespace tessera
