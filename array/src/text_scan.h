// Finding the end of a JSON text: the one loop of the scanner that sees every byte of a base64 array.
#pragma once

namespace tessera {

/// Finds the first `"`, `\`, control character or byte outside ASCII in [at, end); `end` if there is none.
[[nodiscard]] const char* find_text_stop(const char* at, const char* end);
/// Finds the first `"`, `\` or control character, passing over bytes outside ASCII.
[[nodiscard]] const char* find_ascii_text_stop(const char* at, const char* end);

}  // namespace tessera
