// Numbers as text, in the spelling of the real runtime's responses (PROTOCOL.md sections 4.1 and 5.1).
// Writers return the end of what they wrote and write no NUL. All are safe to call from any thread.
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>

namespace tessera {

/// Room that any of the writers below needs, in characters. The longest is a complex number of two large parts.
inline constexpr std::size_t kMaxNumberLength = 700;
/// Room for one double or integer, and for what is written behind its end on the way.
inline constexpr std::size_t kMaxDoubleLength = 48;

/// Writes the shortest digits that read back as `number`: decimal with a point for 1e-5 <= |x| < 1e16, else `1.5e-9`,
/// `1e+16`; `-0.0`; `null` for NaN and infinities. Needs kMaxDoubleLength characters, like the two below.
char* write_json_double(char* out, double number);
char* write_json_integer(char* out, std::int64_t number);
char* write_json_unsigned(char* out, std::uint64_t number);
/// Writes `"1+2j"` with its quotes: never an exponent, a zero real part dropped, `NaN` and `inf` as words. Needs
/// kMaxNumberLength characters.
char* write_json_complex(char* out, std::complex<float> number);
char* write_json_complex(char* out, std::complex<double> number);

}  // namespace tessera
