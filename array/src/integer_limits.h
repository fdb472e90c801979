// The least value of each integer type.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "tessera/array/dtype.h"

namespace tessera {

/// Zero for types that are not signed integers.
[[nodiscard]] inline std::int64_t lowest_integer(DType dtype) {
  return visit_dtype(dtype, [](auto element) -> std::int64_t {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T> && std::is_signed_v<T>) {
      return std::numeric_limits<T>::min();
    } else {
      return 0;
    }
  });
}

}  // namespace tessera
