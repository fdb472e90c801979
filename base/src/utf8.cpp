#include "tessera/base/utf8.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace tessera {
namespace {

constexpr std::uint64_t kHighBits = 0x8080808080808080U;

std::uint64_t load_word(const char* at) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Nearly all bytes of a request are ASCII: 32 at a time here, the rest in the caller's loop.
const char* skip_ascii(const char* at, const char* end) {
  while (end - at >= 32) {
    const std::uint64_t any = load_word(at) | load_word(at + 8) | load_word(at + 16) | load_word(at + 24);
    if ((any & kHighBits) != 0) {
      break;
    }
    at += 32;
  }
  while (at < end && static_cast<unsigned char>(*at) < 0x80U) {
    ++at;
  }
  return at;
}

bool is_continuation(unsigned char byte) {
  return (byte & 0xC0U) == 0x80U;
}

// The length of the character at `at`, whose first byte is not ASCII; 0 if it is not one.
std::size_t length_of_character(const char* at, const char* end) {
  const auto byte = [at](std::size_t i) { return static_cast<unsigned char>(at[i]); };
  const auto left = static_cast<std::size_t>(end - at);
  const unsigned char first = byte(0);
  if (first >= 0xC2U && first <= 0xDFU) {
    return left >= 2 && is_continuation(byte(1)) ? 2 : 0;
  }
  if (first >= 0xE0U && first <= 0xEFU) {
    if (left < 3 || !is_continuation(byte(1)) || !is_continuation(byte(2))) {
      return 0;
    }
    const bool is_overlong = first == 0xE0U && byte(1) < 0xA0U;
    const bool is_surrogate = first == 0xEDU && byte(1) >= 0xA0U;
    return is_overlong || is_surrogate ? 0 : 3;
  }
  if (first >= 0xF0U && first <= 0xF4U) {
    if (left < 4 || !is_continuation(byte(1)) || !is_continuation(byte(2)) || !is_continuation(byte(3))) {
      return 0;
    }
    const bool is_overlong = first == 0xF0U && byte(1) < 0x90U;
    const bool is_too_large = first == 0xF4U && byte(1) >= 0x90U;
    return is_overlong || is_too_large ? 0 : 4;
  }
  return 0;
}

// The bytes of what would begin a character at `at`, but does not go on as one: 1 to 3.
std::size_t length_of_fragment(std::string_view bytes) {
  const auto byte = [bytes](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const unsigned char first = byte(0);
  if (first < 0xE0U || first > 0xF4U || bytes.size() < 2) {
    return 1;
  }
  const unsigned char lowest = first == 0xE0U ? 0xA0U : first == 0xF0U ? 0x90U : 0x80U;
  const unsigned char highest = first == 0xEDU ? 0x9FU : first == 0xF4U ? 0x8FU : 0xBFU;
  if (byte(1) < lowest || byte(1) > highest) {
    return 1;
  }
  return first >= 0xF0U && bytes.size() > 2 && is_continuation(byte(2)) ? 3 : 2;
}

}  // namespace

std::size_t utf8_prefix(std::string_view bytes) {
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (true) {
    at = skip_ascii(at, end);
    if (at == end) {
      return bytes.size();
    }
    // Texts in other scripts come in runs, which would make the search for ASCII start over at each character.
    while (at < end && static_cast<unsigned char>(*at) >= 0x80U) {
      const std::size_t length = length_of_character(at, end);
      if (length == 0) {
        return static_cast<std::size_t>(at - bytes.data());
      }
      at += length;
    }
  }
}

bool is_utf8(std::string_view bytes) {
  return utf8_prefix(bytes) == bytes.size();
}

std::string_view cut_utf8(std::string_view text, std::size_t limit_bytes) {
  std::size_t end = std::min(text.size(), limit_bytes);
  for (int i = 0; i < 3 && end != text.size() && end > 0 && is_continuation(static_cast<unsigned char>(text[end]));
       ++i) {
    --end;
  }
  return text.substr(0, end);
}

std::string brief(std::string_view text, std::size_t limit_bytes) {
  if (text.size() <= limit_bytes) {
    return std::string(text);
  }
  return std::string(cut_utf8(text, limit_bytes)) + "…";
}

void append_replaced_utf8(std::string& text, std::string_view bytes) {
  constexpr std::string_view kReplacementCharacter = "\xEF\xBF\xBD";
  while (true) {
    const std::size_t valid = utf8_prefix(bytes);
    text += bytes.substr(0, valid);
    bytes.remove_prefix(valid);
    if (bytes.empty()) {
      return;
    }
    text += kReplacementCharacter;
    bytes.remove_prefix(length_of_fragment(bytes));
  }
}

std::string replaced_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  append_replaced_utf8(text, bytes);
  return text;
}

std::size_t count_characters(std::string_view text) {
  const char* at = text.data();
  const char* const end = at + text.size();
  std::size_t continuations = 0;
  for (; end - at >= 8; at += 8) {
    const std::uint64_t word = load_word(at);
    continuations += static_cast<std::size_t>(std::popcount(word & (~word << 1U) & kHighBits));
  }
  for (; at < end; ++at) {
    continuations += is_continuation(static_cast<unsigned char>(*at)) ? 1 : 0;
  }
  return text.size() - continuations;
}

void append_utf8(std::string& text, char32_t code_point) {
  const auto value = static_cast<std::uint32_t>(code_point);
  const auto append = [&text](std::uint32_t byte) { text += static_cast<char>(static_cast<unsigned char>(byte)); };
  const auto append_six_bits = [&](unsigned shift) { append(0x80U | ((value >> shift) & 0x3FU)); };
  if (value < 0x80U) {
    append(value);
  } else if (value < 0x800U) {
    append(0xC0U | (value >> 6U));
    append_six_bits(0);
  } else if (value < 0x10000U) {
    append(0xE0U | (value >> 12U));
    append_six_bits(6);
    append_six_bits(0);
  } else {
    append(0xF0U | ((value >> 18U) & 0x07U));
    append_six_bits(12);
    append_six_bits(6);
    append_six_bits(0);
  }
}

}  // namespace tessera
