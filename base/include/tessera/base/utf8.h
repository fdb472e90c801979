// UTF-8: is it, how many characters, and what is shown for other bytes. All are safe to call from any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera {

/// Whether the bytes are UTF-8 as Python's strict decoder takes it (no surrogates, no overlong forms).
[[nodiscard]] bool is_utf8(std::string_view bytes);
/// How many bytes from the front on are UTF-8: all of them, or those before the first fault.
[[nodiscard]] std::size_t utf8_prefix(std::string_view bytes);
/// The first `limit_bytes` of a text, or up to three less, so that no character of UTF-8 is cut in two.
[[nodiscard]] std::string_view cut_utf8(std::string_view text, std::size_t limit_bytes);
/// A text as messages quote it: all of it, or of more than `limit_bytes` the beginning and `…`. What clients send is
/// quoted only so, that an answer never is larger than its request.
[[nodiscard]] std::string brief(std::string_view text, std::size_t limit_bytes = 300);
/// The bytes with U+FFFD for what is not UTF-8, as Python's decoder replaces it (`errors="replace"`): one for each byte
/// that begins nothing, one for each character that breaks off.
[[nodiscard]] std::string replaced_utf8(std::string_view bytes);
/// Appends the same.
void append_replaced_utf8(std::string& text, std::string_view bytes);
/// The number of characters (code points) of UTF-8 or WTF-8 text; for bytes that are neither, some number.
[[nodiscard]] std::size_t count_characters(std::string_view text);
/// Appends one code point in UTF-8; surrogates (U+D800 to U+DFFF) are appended in the same way, as WTF-8.
/// Requires: code_point <= 0x10FFFF.
void append_utf8(std::string& text, char32_t code_point);

}  // namespace tessera
