// Letters and digits of ASCII, whatever the locale is.
#pragma once

#include <string>
#include <string_view>

namespace tessera {

/// Whether it is one of 0 to 9. Safe to call from any thread.
[[nodiscard]] constexpr bool is_digit(char character) {
  return character >= '0' && character <= '9';
}

/// Whether it is one of A to Z and a to z. Safe to call from any thread.
[[nodiscard]] constexpr bool is_letter(char character) {
  const char lower = static_cast<char>(character | 0x20);
  return lower >= 'a' && lower <= 'z';
}

/// The value of one of 0 to 9, a to f and A to F; -1 for any other character. Safe to call from any thread.
[[nodiscard]] constexpr int hex_digit(char character) {
  if (is_digit(character)) {
    return character - '0';
  }
  const char lower = static_cast<char>(character | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/// The text with A to Z in lower case; all other bytes stay. Safe to call from any thread.
[[nodiscard]] inline std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& character : lower) {
    if (character >= 'A' && character <= 'Z') {
      character = static_cast<char>(character - 'A' + 'a');
    }
  }
  return lower;
}

}  // namespace tessera
