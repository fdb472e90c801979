#include "tessera/base/python_text.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "unprintable.h"

namespace tessera {
namespace {

struct Character {
  char32_t code_point;
  std::size_t size_bytes;
};

// The character at the start of a text that is not empty. Half a surrogate pair is taken too; any other byte that
// starts no character stands for itself.
Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<char32_t>(static_cast<unsigned char>(text[i])); };
  const char32_t first = byte(0);
  std::size_t size_bytes = 1;
  char32_t code_point = first;
  if (first >= 0xC2 && first <= 0xDF) {
    size_bytes = 2;
    code_point = first & 0x1FU;
  } else if (first >= 0xE0 && first <= 0xEF) {
    size_bytes = 3;
    code_point = first & 0x0FU;
  } else if (first >= 0xF0 && first <= 0xF4) {
    size_bytes = 4;
    code_point = first & 0x07U;
  }
  if (size_bytes > text.size()) {
    return {.code_point = first, .size_bytes = 1};
  }
  for (std::size_t i = 1; i < size_bytes; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return {.code_point = first, .size_bytes = 1};
    }
    code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  }
  return {.code_point = code_point, .size_bytes = size_bytes};
}

void append_escape(std::string& out, char32_t code_point) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  unsigned digits = 8;
  char letter = 'U';
  if (code_point <= 0xFF) {
    digits = 2;
    letter = 'x';
  } else if (code_point <= 0xFFFF) {
    digits = 4;
    letter = 'u';
  }
  out += '\\';
  out += letter;
  while (digits-- > 0) {
    out += kDigits[(code_point >> (4 * digits)) & 0x0FU];
  }
}

void append_ascii(std::string& out, char character, char quote) {
  const auto byte = static_cast<unsigned char>(character);
  if (character == quote || character == '\\') {
    out += '\\';
    out += character;
  } else if (character == '\n') {
    out += "\\n";
  } else if (character == '\r') {
    out += "\\r";
  } else if (character == '\t') {
    out += "\\t";
  } else if (byte < 0x20U || byte == 0x7FU) {
    append_escape(out, byte);
  } else {
    out += character;
  }
}

// Digits as `repr` places them: a point for exponents from -4 to 15, else an exponent of at least two digits.
std::string python_digits(double number) {
  if (std::isnan(number)) {
    return "nan";
  }
  if (std::isinf(number)) {
    return number < 0 ? "-inf" : "inf";
  }
  std::array<char, 32> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), number, std::chars_format::scientific).ptr;
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t mark = text.find('e');
  const char* const exponent_start = text.data() + mark + (text[mark + 1] == '+' ? 2 : 1);
  int exponent = 0;
  std::from_chars(exponent_start, end, exponent);
  if (exponent < -4 || exponent >= 16) {
    return std::string(text);
  }

  const bool is_negative = text.front() == '-';
  std::string digits(1, text[is_negative ? 1 : 0]);
  const std::size_t fraction = is_negative ? 3 : 2;
  if (fraction < mark) {
    digits += text.substr(fraction, mark - fraction);
  }
  const std::string sign = is_negative ? "-" : "";
  if (exponent < 0) {
    return sign + "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  }
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (digits.size() <= whole) {
    return sign + digits + std::string(whole - digits.size(), '0');
  }
  return sign + digits.substr(0, whole) + '.' + digits.substr(whole);
}

template <class Text>
std::string tuple_of(std::span<const std::int64_t> sizes, Text text_of) {
  std::string out = "(";
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    out += i == 0 ? "" : ", ";
    out += text_of(sizes[i]);
  }
  return out + (sizes.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string python_repr(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out;
  out.reserve(text.size() + 2);
  out += quote;
  while (!text.empty()) {
    const Character character = first_character(text);
    const bool is_stray_byte = character.size_bytes == 1 && character.code_point >= 0x80;
    if (character.code_point < 0x80) {
      append_ascii(out, text.front(), quote);
    } else if (is_stray_byte || is_unprintable(character.code_point)) {
      append_escape(out, character.code_point);
    } else {
      out += text.substr(0, character.size_bytes);
    }
    text.remove_prefix(character.size_bytes);
  }
  out += quote;
  return out;
}

std::string python_repr(double number) {
  std::string text = python_digits(number);
  if (text.find_first_not_of("-0123456789") == std::string::npos) {
    text += ".0";
  }
  return text;
}

std::string python_repr_complex(double real, double imaginary) {
  std::string last = python_digits(imaginary) + "j";
  if (real == 0 && !std::signbit(real)) {
    return last;
  }
  const bool has_sign = last.front() == '-';
  return "(" + python_digits(real) + (has_sign ? "" : "+") + last + ")";
}

std::string python_tuple(std::span<const std::int64_t> sizes) {
  return tuple_of(sizes, [](std::int64_t size) { return size < 0 ? std::string("None") : std::to_string(size); });
}

std::string python_shape(std::span<const std::int64_t> sizes) {
  return tuple_of(sizes, [](std::int64_t size) { return std::to_string(size); });
}

std::string python_choices(std::span<const std::string> parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) {
      out += i + 1 == parts.size() ? " or " : ", ";
    }
    out += parts[i];
  }
  return out;
}

}  // namespace tessera
