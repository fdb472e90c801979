#include "number_text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>

#include "decimal_double.h"
#include "tessera/base/ascii.h"

namespace tessera {
namespace {

// Powers of ten that a double holds exactly.
constexpr std::array<double, 23> kExactPowers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                                 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
constexpr int kMaxExactPower = 22;
constexpr std::uint64_t kMaxExactInteger = std::uint64_t{1} << 53;
// So many decimal digits always fit 64 bits.
constexpr std::ptrdiff_t kSafeDigits = 19;
// Enough to be beyond every double, whatever the digits before it.
constexpr std::int64_t kHugeExponent = std::int64_t{1} << 40;

std::uint64_t parse_8_digits(const char* at) {
  // Adds neighbours pairwise: tens and ones, then hundreds, then ten thousands.
  std::uint64_t digits = 0;
  __builtin_memcpy(&digits, at, sizeof digits);
  digits -= 0x3030303030303030U;
  digits = (digits * 10) + (digits >> 8);
  constexpr std::uint64_t kMask = 0x000000FF000000FFU;
  constexpr std::uint64_t kHundreds = 0x000F424000000064U;
  constexpr std::uint64_t kOnes = 0x0000271000000001U;
  return (((digits & kMask) * kHundreds) + (((digits >> 16) & kMask) * kOnes)) >> 32;
}

bool are_8_digits(const char* at) {
  std::uint64_t digits = 0;
  __builtin_memcpy(&digits, at, sizeof digits);
  // A byte below '0' borrows into its top bit, one above '9' carries into it.
  return (((digits + 0x4646464646464646U) | (digits - 0x3030303030303030U)) & 0x8080808080808080U) == 0;
}

// Passes digits and adds them to `value`, which wraps beyond 64 bits.
const char* pass_digits(const char* at, const char* end, std::uint64_t& value) {
  while (end - at >= 8 && are_8_digits(at)) {
    value = value * 100000000U + parse_8_digits(at);
    at += 8;
  }
  for (; at != end && is_digit(*at); ++at) {
    value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  return at;
}

bool begins_with(const char* at, const char* end, std::string_view word) {
  return static_cast<std::size_t>(end - at) >= word.size() && std::equal(word.begin(), word.end(), at);
}

const char* parse_word(const char* at, const char* end, JsonNumber& number) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr std::string_view kNan = "NaN";
  constexpr std::string_view kPositive = "Infinity";
  constexpr std::string_view kNegative = "-Infinity";
  number.kind = JsonNumber::Kind::kDouble;
  if (begins_with(at, end, kNan)) {
    number.real = std::numeric_limits<double>::quiet_NaN();
    return at + kNan.size();
  }
  if (begins_with(at, end, kPositive)) {
    number.real = kInfinity;
    return at + kPositive.size();
  }
  if (begins_with(at, end, kNegative)) {
    number.real = -kInfinity;
    return at + kNegative.size();
  }
  return nullptr;
}

std::ptrdiff_t leading_zeros(const char* at, const char* end) {
  std::ptrdiff_t count = 0;
  for (; at != end && (*at == '0' || *at == '.'); ++at) {
    count += *at == '0' ? 1 : 0;
  }
  return count;
}

double nearest_double(std::uint64_t mantissa, std::int64_t power) {
  // One correctly rounded operation on exact operands gives the correctly rounded result.
  if (mantissa <= kMaxExactInteger && power >= -kMaxExactPower && power <= kMaxExactPower) {
    const auto exact = static_cast<double>(mantissa);
    return power < 0 ? exact / kExactPowers[static_cast<std::size_t>(-power)]
                     : exact * kExactPowers[static_cast<std::size_t>(power)];
  }
  return double_of_decimal(mantissa, power);
}

void set_whole(const char* at, const char* end, bool is_negative, std::uint64_t magnitude, JsonNumber& number) {
  constexpr std::uint64_t kMaxSigned = std::numeric_limits<std::int64_t>::max();
  const char* digits = at + (is_negative ? 1 : 0);
  if (end - digits > kSafeDigits) {
    const auto [stop, code] = std::from_chars(digits, end, magnitude);
    if (code != std::errc{}) {
      number.kind = JsonNumber::Kind::kHugeInt;
      number.real = parse_decimal({at, static_cast<std::size_t>(end - at)});
      return;
    }
  }
  if (is_negative) {
    if (magnitude > kMaxSigned + 1) {
      number.kind = JsonNumber::Kind::kHugeInt;
      number.real = -static_cast<double>(magnitude);
      return;
    }
    number.kind = JsonNumber::Kind::kInt;
    number.integer = static_cast<std::int64_t>(0 - magnitude);
    number.real = static_cast<double>(number.integer);
    return;
  }
  number.real = static_cast<double>(magnitude);
  if (magnitude > kMaxSigned) {
    number.kind = JsonNumber::Kind::kUInt;
    number.unsigned_integer = magnitude;
    return;
  }
  number.kind = JsonNumber::Kind::kInt;
  number.integer = static_cast<std::int64_t>(magnitude);
}

// The power of ten of the first digit that is not zero; only its sign is used.
std::int64_t decimal_magnitude(const char* at, const char* end) {
  if (at != end && *at == '-') {
    ++at;
  }
  std::int64_t before_point = 0;
  std::int64_t zeros_behind_point = 0;
  bool is_behind_point = false;
  bool has_digit = false;
  const char* exponent = end;
  for (; at != end; ++at) {
    if (*at == 'e' || *at == 'E') {
      exponent = at + 1;
      break;
    }
    if (*at == '.') {
      is_behind_point = true;
      continue;
    }
    has_digit = has_digit || *at != '0';
    if (!is_behind_point && has_digit) {
      ++before_point;
    } else if (is_behind_point && !has_digit) {
      ++zeros_behind_point;
    }
  }
  std::int64_t power = 0;
  if (exponent != end) {
    const bool is_negative = *exponent == '-';
    exponent += is_negative || *exponent == '+' ? 1 : 0;
    if (std::from_chars(exponent, end, power).ec != std::errc{}) {
      power = kHugeExponent;
    }
    power = std::min(power, kHugeExponent) * (is_negative ? -1 : 1);
  }
  return before_point - zeros_behind_point + power;
}

}  // namespace

double parse_decimal(std::string_view text) {
  const char* const at = text.data();
  const char* const end = at + text.size();
  double value = 0.0;
  if (std::from_chars(at, end, value).ec == std::errc::result_out_of_range) {
    value = decimal_magnitude(at, end) > 0 ? std::numeric_limits<double>::infinity() : 0.0;
    value = *at == '-' ? -value : value;
  }
  return value;
}

const char* parse_number_text(const char* at, const char* end, JsonNumber& number) {
  const char* const begin = at;
  const bool is_negative = at != end && *at == '-';
  if (is_negative) {
    ++at;
  }
  if (at == end || !is_digit(*at)) {
    return parse_word(begin, end, number);
  }
  const char* const digits = at;
  std::uint64_t mantissa = 0;
  at = *at == '0' ? at + 1 : pass_digits(at, end, mantissa);
  std::ptrdiff_t digit_count = at - digits;
  std::int64_t power = 0;
  const char* const whole_end = at;
  if (end - at >= 2 && *at == '.' && is_digit(at[1])) {
    const char* const fraction = at + 1;
    at = pass_digits(fraction, end, mantissa);
    digit_count += at - fraction;
    power = fraction - at;
  }
  if (end - at >= 2 && (*at == 'e' || *at == 'E')) {
    const char* exponent = at + 1;
    const bool is_power_negative = *exponent == '-';
    exponent += is_power_negative || *exponent == '+' ? 1 : 0;
    std::uint64_t magnitude = 0;
    if (const char* const stop = pass_digits(exponent, end, magnitude); stop != exponent) {
      at = stop;
      // A long exponent may have wrapped: anything beyond the exact powers is left to the slow way.
      const auto capped = static_cast<std::int64_t>(stop - exponent > 8 ? std::uint64_t{1} << 32
                                                                        : std::min(magnitude, std::uint64_t{1} << 32));
      power += is_power_negative ? -capped : capped;
      number.kind = JsonNumber::Kind::kDouble;
    }
  }
  if (at == whole_end) {
    set_whole(begin, at, is_negative, mantissa, number);
    return at;
  }
  number.kind = JsonNumber::Kind::kDouble;
  if (digit_count > kSafeDigits) {
    digit_count -= leading_zeros(digits, at);
  }
  if (digit_count <= kSafeDigits) {
    const double value = nearest_double(mantissa, power);
    number.real = is_negative ? -value : value;
    return at;
  }
  number.real = parse_decimal({begin, static_cast<std::size_t>(at - begin)});
  return at;
}

}  // namespace tessera
