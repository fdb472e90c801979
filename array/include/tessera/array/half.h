// float16 as its bits, with the conversions that C++20 lacks.
#pragma once

#include <cstdint>

namespace tessera {

/// An IEEE 754 binary16 number as its bits. A plain value; safe to use from any thread.
struct Half {
  std::uint16_t bits = 0;

  /// Both round once, to nearest even; what is too large becomes infinity, NaN stays NaN.
  [[nodiscard]] static Half from_float(float number);
  [[nodiscard]] static Half from_double(double number);
  /// Exact.
  [[nodiscard]] float to_float() const;
  friend bool operator==(Half, Half) = default;
};

}  // namespace tessera
