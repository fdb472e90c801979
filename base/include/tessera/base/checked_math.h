// Arithmetic on sizes that says when it overflows: every product of numbers from outside goes through here.
// Functions of their arguments alone, safe to call from any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

namespace tessera {

/// The product, or nothing if it does not fit T.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_multiply(T a, T b) {
  T product{};
  if (__builtin_mul_overflow(a, b, &product)) {
    return std::nullopt;
  }
  return product;
}

/// The sum, or nothing if it does not fit T.
template <std::integral T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  T sum{};
  if (__builtin_add_overflow(a, b, &sum)) {
    return std::nullopt;
  }
  return sum;
}

}  // namespace tessera
