// Which characters Python shows as escapes.
#pragma once

namespace tessera {

/// Whether `str.isprintable()` is false for a character of more than 7 bits (Python 3.11, Unicode 14).
[[nodiscard]] bool is_unprintable(char32_t code_point);

}  // namespace tessera
