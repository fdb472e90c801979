#include "lax_number.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include "tessera/base/ascii.h"

namespace tessera {
namespace {

// White space beyond ASCII, in UTF-8 (Unicode's White_Space, which pydantic trims).
constexpr std::array<std::string_view, 19> kWideSpaces = {
    "\xC2\x85",     "\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80\x80", "\xE2\x80\x81", "\xE2\x80\x82", "\xE2\x80\x83",
    "\xE2\x80\x84", "\xE2\x80\x85", "\xE2\x80\x86", "\xE2\x80\x87", "\xE2\x80\x88", "\xE2\x80\x89", "\xE2\x80\x8A",
    "\xE2\x80\xA8", "\xE2\x80\xA9", "\xE2\x80\xAF", "\xE2\x81\x9F", "\xE3\x80\x80"};

bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

std::string_view trim(std::string_view text) {
  bool is_trimmed = false;
  while (!is_trimmed && !text.empty()) {
    is_trimmed = true;
    if (is_space(text.front())) {
      text.remove_prefix(1);
      is_trimmed = false;
      continue;
    }
    if (is_space(text.back())) {
      text.remove_suffix(1);
      is_trimmed = false;
      continue;
    }
    for (const std::string_view space : kWideSpaces) {
      if (text.starts_with(space)) {
        text.remove_prefix(space.size());
        is_trimmed = false;
      } else if (text.ends_with(space)) {
        text.remove_suffix(space.size());
        is_trimmed = false;
      }
    }
  }
  return text;
}

bool has_stray_underscore(std::string_view text) {
  return text.starts_with('_') || text.ends_with('_') || text.find("__") != std::string_view::npos;
}

std::string without_underscores(std::string_view text) {
  std::string digits(text);
  std::erase(digits, '_');
  return digits;
}

bool is_all(std::string_view text, bool (*is_one)(char)) {
  return std::ranges::all_of(text, is_one);
}

/// `12`, `1.5`, `.5`, `5.`, each with an exponent or not.
bool is_decimal(std::string_view text) {
  const std::size_t e = text.find_first_of("eE");
  if (e != std::string_view::npos) {
    std::string_view exponent = text.substr(e + 1);
    if (exponent.starts_with('+') || exponent.starts_with('-')) {
      exponent.remove_prefix(1);
    }
    if (exponent.empty() || !is_all(exponent, is_digit)) {
      return false;
    }
  }
  const std::string_view mantissa = text.substr(0, e);
  const std::size_t point = mantissa.find('.');
  const std::string_view whole = mantissa.substr(0, point);
  const std::string_view fraction = point == std::string_view::npos ? "" : mantissa.substr(point + 1);
  return (!whole.empty() || !fraction.empty()) && is_all(whole, is_digit) && is_all(fraction, is_digit);
}

/// Whether a decimal that no double holds is too large, not too small.
bool is_beyond(std::string_view decimal) {
  const std::size_t e = decimal.find_first_of("eE");
  if (e == std::string_view::npos) {
    return decimal.find_first_not_of("0.") < decimal.find('.');
  }
  const bool is_negative = decimal[e + 1] == '-';
  const std::string_view exponent = decimal.substr(e + 1 + (is_negative || decimal[e + 1] == '+' ? 1 : 0));
  std::int64_t power = 0;
  if (std::from_chars(exponent.data(), exponent.data() + exponent.size(), power).ec != std::errc()) {
    return !is_negative;
  }
  const std::string_view mantissa = decimal.substr(0, e);
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const std::size_t first = mantissa.find_first_not_of("0.");
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  return (is_negative ? -power : power) + place > 0;
}

}  // namespace

std::variant<std::int64_t, std::uint64_t, IntegerFault> read_lax_integer(std::string_view text) {
  text = trim(text);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) {
    text.remove_prefix(1);
  }
  if (const std::size_t point = text.find('.'); point != std::string_view::npos) {
    const std::string_view fraction = text.substr(point + 1);
    if (fraction.empty() || !is_all(fraction, [](char c) { return c == '0'; })) {
      return IntegerFault::kNotOne;
    }
    text = text.substr(0, point);
  }
  if (text.empty() || has_stray_underscore(text)) {
    return IntegerFault::kNotOne;
  }
  const std::string digits = without_underscores(text);
  if (!is_all(digits, is_digit)) {
    return IntegerFault::kNotOne;
  }
  std::uint64_t magnitude = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), magnitude).ec != std::errc()) {
    return IntegerFault::kTooLarge;
  }
  constexpr std::uint64_t kLowest = std::uint64_t{1} << 63;
  if (is_negative) {
    if (magnitude > kLowest) {
      return IntegerFault::kTooLarge;
    }
    return magnitude == kLowest ? std::numeric_limits<std::int64_t>::min() : -static_cast<std::int64_t>(magnitude);
  }
  if (magnitude >= kLowest) {
    return magnitude;
  }
  return static_cast<std::int64_t>(magnitude);
}

std::optional<double> read_lax_number(std::string_view text) {
  text = trim(text);
  if (text.empty() || has_stray_underscore(text)) {
    return std::nullopt;
  }
  std::string digits = without_underscores(text);
  const bool is_negative = digits.starts_with('-');
  if (is_negative || digits.starts_with('+')) {
    digits.erase(0, 1);
  }
  double number = 0.0;
  if (is_decimal(digits)) {
    const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (result.ec == std::errc::result_out_of_range) {
      number = is_beyond(digits) ? std::numeric_limits<double>::infinity() : 0.0;
    }
  } else if (const std::string word = lower_case(digits); word == "inf" || word == "infinity") {
    number = std::numeric_limits<double>::infinity();
  } else if (word == "nan") {
    number = std::numeric_limits<double>::quiet_NaN();
  } else {
    return std::nullopt;
  }
  return is_negative ? -number : number;
}

}  // namespace tessera
