#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "tessera/array/fit.h"
#include "tessera/base/python_text.h"

namespace tessera {
namespace {

template <class T>
inline constexpr bool kIsComplex = kDTypeOf<T> == DType::kComplex64 || kDTypeOf<T> == DType::kComplex128;
template <class T>
inline constexpr bool kIsInteger = std::is_integral_v<T> && !std::is_same_v<T, bool>;
template <class T>
inline constexpr bool kIsReal = !kIsComplex<T> && !std::is_integral_v<T>;

// is_castable() for the compiler, so that no code is made for what cannot be.
template <class From, class To>
inline constexpr bool kIsCastable = kIsComplex<To> || (kIsReal<To> && !kIsComplex<From>) ||
                                    (kIsInteger<To> && std::is_integral_v<From>) || std::is_same_v<From, To>;

// Bools are read as bytes, since loading another byte than 0 and 1 as a bool would be undefined.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
Stored<T> load(Stored<T> stored) {
  if constexpr (std::is_same_v<T, bool>) {
    return stored != 0 ? 1 : 0;
  } else {
    return stored;
  }
}

template <class To, class From>
To convert(From element) {
  if constexpr (kIsComplex<To>) {
    using Part = typename To::value_type;
    if constexpr (kIsComplex<From>) {
      return To(convert<Part>(element.real()), convert<Part>(element.imag()));
    } else {
      return To(convert<Part>(element), Part{0});
    }
  } else if constexpr (std::is_same_v<From, Half>) {
    return convert<To>(element.to_float());
  } else if constexpr (std::is_same_v<To, Half>) {
    return Half::from_double(static_cast<double>(element));
  } else {
    return static_cast<To>(element);
  }
}

bool is_infinite(Half element) {
  return (element.bits & 0x7fffU) == 0x7c00U;
}
template <class T>
bool is_infinite(T element) {
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::abs(element) == std::numeric_limits<T>::infinity();
  }
}

// Whether the target type is too narrow for this element. Written without branches, for the sake of the loop below.
template <class To, class From>
bool is_lost(From element, To converted) {
  if constexpr (kIsInteger<To>) {
    return !std::in_range<To>(element);
  } else if constexpr (kIsComplex<To> && kIsComplex<From>) {
    return (static_cast<unsigned>(is_lost(element.real(), converted.real())) |
            static_cast<unsigned>(is_lost(element.imag(), converted.imag()))) != 0;
  } else if constexpr (kIsComplex<To>) {
    return is_lost(element, converted.real());
  } else {
    return (static_cast<unsigned>(is_infinite(converted)) & static_cast<unsigned>(!is_infinite(element))) != 0;
  }
}

// The bits of the largest power of two that a type holds.
template <class T>
constexpr int max_exponent() {
  if constexpr (kIsComplex<T>) {
    return std::numeric_limits<typename T::value_type>::max_exponent;
  } else if constexpr (std::is_same_v<T, Half>) {
    return 16;
  } else if constexpr (kIsReal<T>) {
    return std::numeric_limits<T>::max_exponent;
  } else {
    return std::numeric_limits<T>::digits;
  }
}

template <class From, class To>
constexpr bool can_lose() {
  if constexpr (std::is_same_v<From, bool> || std::is_same_v<To, bool>) {
    return false;
  } else if constexpr (kIsInteger<To>) {
    return !std::in_range<To>(std::numeric_limits<From>::min()) || !std::in_range<To>(std::numeric_limits<From>::max());
  } else {
    return max_exponent<From>() > max_exponent<To>() ||
           // 65535 is below two to the sixteenth, but rounds to infinity in float16.
           (kIsInteger<From> && max_exponent<From>() == max_exponent<To>());
  }
}

template <class T>
std::string text_of(T element) {
  if constexpr (kIsInteger<T>) {
    return std::to_string(element);
  } else if constexpr (kIsComplex<T>) {
    return python_repr_complex(static_cast<double>(element.real()), static_cast<double>(element.imag()));
  } else {
    return python_repr(convert<double>(element));
  }
}

// The value that an error quotes: for integers the minimum if that is too small, else the maximum; else the first.
template <class To, class From>
std::string find_lost(std::span<const From> elements) {
  if constexpr (kIsInteger<To>) {
    const auto [low, high] = std::minmax_element(elements.begin(), elements.end());
    return text_of(std::in_range<To>(*low) || *low >= From{0} ? *high : *low);
  } else {
    const auto first = std::find_if(elements.begin(), elements.end(),
                                    [](From element) { return is_lost(element, convert<To>(element)); });
    return first == elements.end() ? std::string() : text_of(*first);
  }
}

// Casts all elements; returns the value that is lost, if there is one. Looks at the flag only at the ends of blocks, so
// that the loop has no branch and becomes vector code.
template <class From, class To>
std::optional<std::string> cast_elements(std::span<const std::byte> from, std::span<std::byte> to) {
  const auto* in = reinterpret_cast<const Stored<From>*>(from.data());
  auto* out = reinterpret_cast<To*>(to.data());
  const std::size_t count = from.size() / sizeof(From);
  constexpr std::size_t kBlockSize = 1024;
  for (std::size_t begin = 0; begin < count; begin += kBlockSize) {
    const std::size_t end = std::min(count, begin + kBlockSize);
    unsigned lost = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const Stored<From> element = load<From>(in[i]);
      out[i] = convert<To>(element);
      if constexpr (can_lose<From, To>()) {
        lost |= static_cast<unsigned>(is_lost(element, out[i]));
      }
    }
    if (lost != 0) {
      return find_lost<To>(std::span(in, count));
    }
  }
  return std::nullopt;
}

}  // namespace

std::variant<Array, ArrayFault> cast(Array array, DType to) {
  if (array.dtype() == to) {
    return array;
  }
  ArrayFault fault;
  fault.expected_dtype = to;
  if (!is_castable(array.dtype(), to)) {
    fault.kind = ArrayFault::Kind::kDType;
    fault.actual_dtype = array.dtype();
    return fault;
  }
  if (!array.has_data()) {
    return Array::shape_only(to, array.shape());
  }
  Array result = Array::allocate(to, array.shape());
  const std::span<const std::byte> in = array.bytes();
  const std::span<std::byte> out = result.mutable_bytes();
  auto lost = visit_dtype(array.dtype(), [&](auto from_element) {
    return visit_dtype(to, [&](auto to_element) -> std::optional<std::string> {
      using From = decltype(from_element);
      using To = decltype(to_element);
      if constexpr (kIsCastable<From, To>) {
        return cast_elements<From, To>(in, out);
      } else {
        return std::nullopt;
      }
    });
  });
  if (lost) {
    fault.kind = ArrayFault::Kind::kOutOfRange;
    fault.value = std::move(*lost);
    return fault;
  }
  return result;
}

}  // namespace tessera
