#include "tessera/array/json_number.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string_view>

#include "decimal_double.h"

namespace tessera {
namespace {

// Whole numbers below are exact in a double and printed as integers, which is faster.
constexpr double kMaxWhole = 9007199254740992.0;
// The exponents of ten of the first digit for which a point is written, not an exponent.
constexpr int kMinPlainExponent = -5;
constexpr int kMaxPlainExponent = 15;

constexpr std::size_t kMaxDigits = 17;
constexpr auto kPowersOfTen = [] {
  std::array<std::uint64_t, kMaxDigits + 1> powers{1};
  for (std::size_t i = 1; i != powers.size(); ++i) {
    powers[i] = powers[i - 1] * 10;
  }
  return powers;
}();

// The shortest digits of a finite number, as d.ddd times ten to the power of `exponent`.
struct Decimal {
  std::uint64_t digits = 0;  // always kMaxDigits of them, those behind the first `count` are zeros
  std::size_t count = 0;
  int exponent = 0;
};

// Requires: number is finite and above zero.
Decimal shortest_decimal(double number) {
  const ShortDecimal shortest = shortest_decimal_of(number);
  // log10(2) as a fraction; one too low just below a power of ten.
  auto count = static_cast<std::size_t>(std::bit_width(shortest.digits)) * 1233 >> 12U;
  count += shortest.digits >= kPowersOfTen[count] ? 1 : 0;
  return {shortest.digits * kPowersOfTen[kMaxDigits - count], count, shortest.exponent + static_cast<int>(count) - 1};
}

// Writes eight digits, with leading zeros. Requires: number < 10^8.
void write_8_digits(char* out, std::uint64_t number) {
  // Halves, then quarters, then eighths, side by side: each step divides by a fixed-point product.
  std::uint64_t parts = number / 10000 | number % 10000 << 32;
  const std::uint64_t hundreds = parts * 10486 >> 20 & 0x0000007F0000007F;
  parts = hundreds | (parts - hundreds * 100) << 16;
  const std::uint64_t tens = parts * 103 >> 10 & 0x000F000F000F000F;
  parts = (tens | (parts - tens * 10) << 8) + 0x3030303030303030;
  std::memcpy(out, &parts, sizeof parts);
}

// Writes all kMaxDigits.
void write_digits(char* out, const Decimal& decimal) {
  constexpr std::uint64_t kGroup = 100000000;
  const std::uint64_t upper = decimal.digits / kGroup;
  *out = static_cast<char>('0' + upper / kGroup);
  write_8_digits(out + 1, upper % kGroup);
  write_8_digits(out + 9, decimal.digits % kGroup);
}

// The number of binary digits behind the point; zero or less for whole numbers. Requires: number is finite, not zero.
int fraction_bits(double number) {
  int exponent = 0;
  const double mantissa = std::frexp(number, &exponent);
  constexpr int kMantissaBits = std::numeric_limits<double>::digits;
  const auto bits = static_cast<std::uint64_t>(std::ldexp(mantissa, kMantissaBits));
  return kMantissaBits - exponent - std::countr_zero(bits);
}

// Whether the number is exactly its first `count` digits and a 5. Requires: as for shortest_decimal().
bool ends_with_5_after(double number, const Decimal& decimal) {
  // A number with so many bits behind the point has as many decimals, and the last of them is a 5.
  if (const int decimals = fraction_bits(number); decimals > 0) {
    return decimals == static_cast<int>(decimal.count) - decimal.exponent;
  }
  std::array<char, std::numeric_limits<double>::max_exponent10 + 2> digits{};
  const char* const end = std::to_chars(digits.begin(), digits.end(), number, std::chars_format::fixed, 0).ptr;
  const std::string_view rest = std::string_view(digits.begin(), end).substr(std::min(decimal.count, digits.size()));
  return !rest.empty() && rest[0] == '5' && rest.find_first_not_of('0', 1) == std::string_view::npos;
}

// Of two shortest decimals that are equally near, Rust's own formatting takes the larger, std::to_chars the even one.
void round_tie_up(double number, Decimal& decimal) {
  if (!ends_with_5_after(number, decimal)) {
    return;
  }
  std::array<char, 40> longer{};
  std::to_chars(longer.begin(), longer.end(), number, std::chars_format::scientific, static_cast<int>(decimal.count));
  const char last = decimal.count == 1 ? longer[0] : longer[decimal.count];
  // An even digit does not carry.
  const std::uint64_t unit = kPowersOfTen[kMaxDigits - decimal.count];
  if (decimal.digits / unit % 10 == static_cast<std::uint64_t>(last - '0')) {
    decimal.digits += unit;
  }
}

char* write_text(char* out, std::string_view text) {
  return std::ranges::copy(text, out).out;
}

// Writes digits with their point, and zeros where there are no digits; never an exponent.
char* write_plain(char* out, const Decimal& decimal) {
  std::array<char, kMaxDigits> text{};
  write_digits(text.data(), decimal);
  const char* const digits = text.data();
  if (decimal.exponent < 0) {
    out = write_text(out, "0.");
    out = std::fill_n(out, -decimal.exponent - 1, '0');
    return std::copy_n(digits, decimal.count, out);
  }
  const auto whole = static_cast<std::size_t>(decimal.exponent) + 1;
  if (decimal.count <= whole) {
    out = std::copy_n(digits, decimal.count, out);
    return std::fill_n(out, whole - decimal.count, '0');
  }
  out = std::copy_n(digits, whole, out);
  *out++ = '.';
  return std::copy_n(digits + whole, decimal.count - whole, out);
}

char* write_scientific(char* out, const Decimal& decimal) {
  write_digits(out + 1, decimal);
  out[0] = out[1];
  out[1] = '.';
  out += decimal.count == 1 ? 1 : decimal.count + 1;
  *out++ = 'e';
  *out++ = decimal.exponent < 0 ? '-' : '+';
  return std::to_chars(out, out + 4, std::abs(decimal.exponent)).ptr;
}

// Rust's spelling, which the real runtime uses for the parts of complex numbers; without a sign.
char* write_complex_part(char* out, double magnitude) {
  if (std::isnan(magnitude)) {
    return write_text(out, "NaN");
  }
  if (std::isinf(magnitude)) {
    return write_text(out, "inf");
  }
  if (magnitude == 0.0) {
    return write_text(out, "0");
  }
  Decimal decimal = shortest_decimal(magnitude);
  round_tie_up(magnitude, decimal);
  return write_plain(out, decimal);
}

bool has_minus(double number) {
  return std::signbit(number) && !std::isnan(number);
}

}  // namespace

char* write_json_double(char* out, double number) {
  if (!std::isfinite(number)) {
    return write_text(out, "null");
  }
  *out = '-';
  out += std::signbit(number) ? 1 : 0;
  number = std::abs(number);
  if (number < kMaxWhole) {
    const auto whole = static_cast<std::uint64_t>(number);
    if (static_cast<double>(whole) == number) {
      out = write_json_unsigned(out, whole);
      return write_text(out, ".0");
    }
  }
  const Decimal decimal = shortest_decimal(number);
  if (decimal.exponent < kMinPlainExponent || decimal.exponent > kMaxPlainExponent) {
    return write_scientific(out, decimal);
  }
  // Most numbers: without another copy, and without a branch that depends on which of both they are.
  if ((decimal.exponent == 0 && decimal.count > 1) || decimal.exponent == -1) {
    const std::size_t zeros = decimal.exponent == -1 ? 1 : 0;
    write_digits(out + 1 + zeros, decimal);
    out[0] = zeros != 0 ? '0' : out[1];
    out[1] = '.';
    return out + 1 + zeros + decimal.count;
  }
  out = write_plain(out, decimal);
  if (static_cast<int>(decimal.count) <= decimal.exponent + 1) {
    out = write_text(out, ".0");
  }
  return out;
}

char* write_json_integer(char* out, std::int64_t number) {
  return std::to_chars(out, out + kMaxDoubleLength, number).ptr;
}

char* write_json_unsigned(char* out, std::uint64_t number) {
  return std::to_chars(out, out + kMaxDoubleLength, number).ptr;
}

char* write_json_complex(char* out, std::complex<double> number) {
  *out++ = '"';
  const bool has_real_part = number.real() != 0.0;
  if (has_real_part) {
    if (has_minus(number.real())) {
      *out++ = '-';
    }
    out = write_complex_part(out, std::abs(number.real()));
  }
  if (has_minus(number.imag())) {
    *out++ = '-';
  } else if (has_real_part) {
    *out++ = '+';
  }
  out = write_complex_part(out, std::abs(number.imag()));
  *out++ = 'j';
  *out++ = '"';
  return out;
}

char* write_json_complex(char* out, std::complex<float> number) {
  return write_json_complex(out, std::complex<double>(number.real(), number.imag()));
}

}  // namespace tessera
