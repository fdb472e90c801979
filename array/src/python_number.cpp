#include "tessera/array/python_number.h"

#include <charconv>
#include <limits>
#include <string>

#include "number_text.h"
#include "tessera/base/ascii.h"

namespace tessera {
namespace {

// Python's white space within ASCII.
bool is_space(char character) {
  return character == ' ' || (character >= '\t' && character <= '\r') || (character >= '\x1c' && character <= '\x1f');
}

std::string_view strip(std::string_view text) {
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

// Takes out underscores; nothing if one is not between two digits.
std::optional<std::string> without_underscores(std::string_view text) {
  std::string digits;
  digits.reserve(text.size());
  for (std::size_t i = 0; i != text.size(); ++i) {
    if (text[i] != '_') {
      digits.push_back(text[i]);
    } else if (i == 0 || i + 1 == text.size() || !is_digit(text[i - 1]) || !is_digit(text[i + 1])) {
      return std::nullopt;
    }
  }
  return digits;
}

// `word` is in lower case.
bool begins_with_word(std::string_view text, std::string_view word) {
  if (text.size() < word.size()) {
    return false;
  }
  for (std::size_t i = 0; i != word.size(); ++i) {
    if ((text[i] | 0x20) != word[i]) {
      return false;
    }
  }
  return true;
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at != text.size() && is_digit(text[at])) {
    ++at;
  }
  return at;
}

// Takes the longest number off the front of `text`; nothing if none begins there.
std::optional<double> take_float(std::string_view& text) {
  const bool has_sign = !text.empty() && (text[0] == '-' || text[0] == '+');
  const bool is_negative = has_sign && text[0] == '-';
  const std::string_view unsigned_text = text.substr(has_sign ? 1 : 0);
  double value = 0.0;
  std::size_t end = 0;
  if (begins_with_word(unsigned_text, "inf")) {
    value = std::numeric_limits<double>::infinity();
    end = begins_with_word(unsigned_text, "infinity") ? 8 : 3;
  } else if (begins_with_word(unsigned_text, "nan")) {
    value = std::numeric_limits<double>::quiet_NaN();
    end = 3;
  } else {
    const std::size_t whole = skip_digits(unsigned_text, 0);
    end = whole;
    std::size_t digits = whole;
    if (end != unsigned_text.size() && unsigned_text[end] == '.') {
      const std::size_t fraction = skip_digits(unsigned_text, end + 1);
      digits += fraction - end - 1;
      end = fraction;
    }
    if (digits == 0) {
      return std::nullopt;
    }
    if (end != unsigned_text.size() && (unsigned_text[end] | 0x20) == 'e') {
      std::size_t exponent = end + 1;
      if (exponent != unsigned_text.size() && (unsigned_text[exponent] == '-' || unsigned_text[exponent] == '+')) {
        ++exponent;
      }
      if (const std::size_t stop = skip_digits(unsigned_text, exponent); stop != exponent) {
        end = stop;
      }
    }
    const std::string_view number = unsigned_text.substr(0, end);
    value = parse_decimal(number);
  }
  text = unsigned_text.substr(end);
  return is_negative ? -value : value;
}

bool take_imaginary_unit(std::string_view& text) {
  if (text.empty() || (text[0] | 0x20) != 'j') {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

// `+` or `-` without digits: one, with that sign.
std::optional<double> take_lone_sign(std::string_view& text) {
  if (text.empty() || (text[0] != '+' && text[0] != '-')) {
    return std::nullopt;
  }
  const double one = text[0] == '+' ? 1.0 : -1.0;
  text.remove_prefix(1);
  return one;
}

// Takes a complex number off the front of `text`.
std::optional<std::complex<double>> take_complex(std::string_view& text) {
  const std::optional<double> first = take_float(text);
  if (!first) {
    const double imaginary = take_lone_sign(text).value_or(1.0);
    return take_imaginary_unit(text) ? std::optional(std::complex<double>(0.0, imaginary)) : std::nullopt;
  }
  if (take_imaginary_unit(text)) {
    return std::complex<double>(0.0, *first);
  }
  if (text.empty() || (text[0] != '+' && text[0] != '-')) {
    return std::complex<double>(*first, 0.0);
  }
  std::optional<double> second = take_float(text);
  if (!second) {
    second = take_lone_sign(text);
  }
  return second && take_imaginary_unit(text) ? std::optional(std::complex<double>(*first, *second)) : std::nullopt;
}

}  // namespace

std::optional<double> parse_python_float(std::string_view text) {
  const std::optional<std::string> digits = without_underscores(strip(text));
  if (!digits) {
    return std::nullopt;
  }
  std::string_view rest = *digits;
  const std::optional<double> value = take_float(rest);
  return rest.empty() ? value : std::nullopt;
}

std::optional<std::complex<double>> parse_python_complex(std::string_view text) {
  text = strip(text);
  if (text.size() >= 2 && text.front() == '(' && text.back() == ')') {
    text = strip(text.substr(1, text.size() - 2));
  }
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits) {
    return std::nullopt;
  }
  std::string_view rest = *digits;
  const std::optional<std::complex<double>> value = take_complex(rest);
  return rest.empty() ? value : std::nullopt;
}

std::optional<std::int64_t> parse_lax_integer(std::string_view text) {
  using Limits = std::numeric_limits<std::int64_t>;
  text = strip(text);
  const std::size_t point = text.find('.');
  if (point != std::string_view::npos && point + 1 != text.size() &&
      text.find_first_not_of('0', point + 1) == std::string_view::npos) {
    text = text.substr(0, point);
  }
  const std::optional<std::string> digits = without_underscores(text);
  if (!digits || digits->empty()) {
    return std::nullopt;
  }
  const bool is_negative = digits->front() == '-';
  const char* const begin = digits->data() + (digits->front() == '+' ? 1 : 0);
  const char* const end = digits->data() + digits->size();
  if (begin != digits->data() && begin != end && *begin == '-') {
    return std::nullopt;
  }
  std::int64_t number = 0;
  const auto [stop, code] = std::from_chars(begin, end, number);
  if (stop != end || code == std::errc::invalid_argument) {
    return std::nullopt;
  }
  if (code == std::errc::result_out_of_range) {
    return is_negative ? Limits::min() : Limits::max();
  }
  return number;
}

}  // namespace tessera
