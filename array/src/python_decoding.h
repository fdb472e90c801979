// What Python's json module accepts as the bytes of a text.
#pragma once

#include <cstddef>
#include <string_view>

namespace tessera {

/// Whether the bytes are UTF-8, or would be but for encoded surrogates, which that module lets through.
[[nodiscard]] bool is_python_decodable(std::string_view bytes);

/// Whether a surrogate (U+D800 to U+DFFF, three bytes) is encoded at `at`.
[[nodiscard]] bool is_surrogate_at(std::string_view bytes, std::size_t at);

}  // namespace tessera
