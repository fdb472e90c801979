#include <cmath>
#include <cstdint>

#include "python_decoding.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/utf8.h"
#include "text_scan.h"

namespace tessera {
namespace {

constexpr std::string_view kHexDigits = "0123456789abcdef";

std::uint32_t hex_value(char character) {
  if (character >= 'a') {
    return static_cast<std::uint32_t>(character - 'a' + 10);
  }
  return static_cast<std::uint32_t>(character >= 'A' ? character - 'A' + 10 : character - '0');
}

// Requires: four hexadecimal digits stand at `at`.
std::uint32_t four_hex_digits(std::string_view text, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = at; i < at + 4; ++i) {
    value = value * 16 + hex_value(text[i]);
  }
  return value;
}

char short_escape(char letter) {
  switch (letter) {
    case 'b':
      return '\b';
    case 'f':
      return '\f';
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    default:
      return letter;
  }
}

// Resolves the escape at `at`; returns where it ends.
std::size_t append_escape(std::string& out, std::string_view raw, std::size_t at) {
  if (raw[at + 1] != 'u') {
    out.push_back(short_escape(raw[at + 1]));
    return at + 2;
  }
  std::uint32_t code_point = four_hex_digits(raw, at + 2);
  std::size_t end = at + 6;
  if ((code_point & 0xFC00U) == 0xD800U && raw.substr(end, 2) == "\\u") {
    const std::uint32_t second = four_hex_digits(raw, end + 2);
    if ((second & 0xFC00U) == 0xDC00U) {
      code_point = 0x10000U + ((code_point & 0x3FFU) << 10) + (second & 0x3FFU);
      end += 6;
    }
  }
  append_utf8(out, static_cast<char32_t>(code_point));
  return end;
}

void append_unicode_escape(std::string& out, std::uint32_t code_unit) {
  out += "\\u";
  for (int shift = 12; shift >= 0; shift -= 4) {
    out.push_back(kHexDigits[(code_unit >> static_cast<unsigned>(shift)) & 0xFU]);
  }
}

void append_escaped_character(std::string& out, char character) {
  switch (character) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\f':
      out += "\\f";
      return;
    case '\r':
      out += "\\r";
      return;
    default:
      append_unicode_escape(out, static_cast<unsigned char>(character));
  }
}

// Appends text as UTF-8, all of it as it is but for surrogates, which are escaped, and for other bytes, which are
// replaced.
void append_as_utf8(std::string& out, std::string_view text) {
  while (true) {
    const std::size_t valid = utf8_prefix(text);
    out += text.substr(0, valid);
    text.remove_prefix(valid);
    if (text.empty()) {
      return;
    }
    std::size_t end = 1;
    if (is_surrogate_at(text, 0)) {
      append_unicode_escape(out, 0xD000U | ((static_cast<unsigned char>(text[1]) & 0x3FU) << 6) |
                                     (static_cast<unsigned char>(text[2]) & 0x3FU));
      end = 3;
    } else {
      // Up to the next byte that may begin a character.
      while (end != text.size() && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
        ++end;
      }
      append_replaced_utf8(out, text.substr(0, end));
    }
    text.remove_prefix(end);
  }
}

void append_compact_value(std::string& out, JsonScanner& scanner) {
  switch (scanner.peek()) {
    case JsonKind::kNumber: {
      const std::size_t begin = scanner.offset();
      const JsonNumber number = scanner.read_number();
      // Not finite, or a double that another reader might not take for what it is, such as 1e400.
      const bool is_finite = number.kind != JsonNumber::Kind::kDouble || std::isfinite(number.real);
      out += is_finite ? scanner.text_since(begin) : "null";
      break;
    }
    case JsonKind::kText:
      out.push_back('"');
      append_as_utf8(out, scanner.read_raw_text().raw);
      out.push_back('"');
      break;
    case JsonKind::kList: {
      scanner.enter();
      char separator = '[';
      while (scanner.next_item()) {
        out.push_back(separator);
        separator = ',';
        append_compact_value(out, scanner);
      }
      out += separator == '[' ? "[]" : "]";
      break;
    }
    case JsonKind::kObject: {
      scanner.enter();
      char separator = '{';
      std::string_view key;
      while (scanner.next_member(key)) {
        out.push_back(separator);
        separator = ',';
        append_json_text(out, key);
        out.push_back(':');
        append_compact_value(out, scanner);
      }
      out += separator == '{' ? "{}" : "}";
      break;
    }
    case JsonKind::kNull:
    case JsonKind::kFalse:
    case JsonKind::kTrue:
    case JsonKind::kInvalid:
      out += scanner.skip_value();
      break;
  }
}

}  // namespace

std::string decode_json_text(const JsonText& text) {
  std::string decoded;
  decoded.reserve(text.raw.size());
  std::size_t begin = 0;
  for (std::size_t at = text.raw.find('\\'); at != std::string_view::npos; at = text.raw.find('\\', begin)) {
    decoded += text.raw.substr(begin, at - begin);
    begin = append_escape(decoded, text.raw, at);
  }
  decoded += text.raw.substr(begin);
  return decoded;
}

void append_json_text(std::string& out, std::string_view text) {
  out.push_back('"');
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at != end) {
    const char* const stop = find_ascii_text_stop(at, end);
    append_as_utf8(out, std::string_view(at, static_cast<std::size_t>(stop - at)));
    at = stop;
    if (at != end) {
      append_escaped_character(out, *at);
      ++at;
    }
  }
  out.push_back('"');
}

void append_compact_json(std::string& out, std::string_view value) {
  JsonScanner scanner(value, JsonScanner::Options{value.size()});
  append_compact_value(out, scanner);
}

}  // namespace tessera
