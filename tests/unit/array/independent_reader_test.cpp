// What is written as JSON, read back by a reader that is not ours: simdjson.
#include <gtest/gtest.h>
#include <simdjson.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <random>
#include <string>
#include <type_traits>

#include "tessera/array/value_writer.h"
#include "tessera/base/utf8.h"

namespace tessera {
namespace {

using Element = simdjson::dom::element;

// Values at random, the same ones in each run.
class RandomValues {
 public:
  Value value(int depth) {
    switch (below(depth == 0 ? 6 : 8)) {
      case 0:
        return nullptr;
      case 1:
        return below(2) == 0;
      case 2:
        return static_cast<std::int64_t>(bits());
      case 3:
        return bits();
      case 4:
        return number();
      case 5:
        return text();
      case 6:
        return list(depth - 1);
      default:
        return object(depth - 1);
    }
  }

  Array array(DType dtype) {
    Array array = Array::allocate(dtype, {below(4), below(4), below(4)});
    visit_dtype(dtype, [&](auto zero) {
      using T = decltype(zero);
      for (T& element : array.mutable_values<T>()) {
        element = element_of<T>();
      }
    });
    return array;
  }

  std::int64_t below(int end) { return std::uniform_int_distribution<std::int64_t>(0, end - 1)(engine_); }

 private:
  // Of every size: the upper bits are often zero.
  std::uint64_t bits() { return std::uniform_int_distribution<std::uint64_t>()(engine_) >> below(64); }

  // NaN and infinities among them.
  double number() { return std::bit_cast<double>(std::uniform_int_distribution<std::uint64_t>()(engine_)); }

  std::string text() {
    std::string text;
    for (std::int64_t left = below(40); left != 0; --left) {
      const auto end = std::array{0x80, 0x800, 0xD800, 0x110000}[static_cast<std::size_t>(below(4))];
      const auto code_point = static_cast<char32_t>(below(end));
      append_utf8(text, code_point >= 0xD800 && code_point < 0xE000 ? U'"' : code_point);
    }
    return text;
  }

  List list(int depth) {
    List list;
    for (std::int64_t left = below(8); left != 0; --left) {
      list.push_back(value(depth));
    }
    return list;
  }

  Object object(int depth) {
    Object object;
    for (std::int64_t left = below(8); left != 0; --left) {
      object.set(text(), value(depth));
    }
    return object;
  }

  template <class T>
  T element_of() {
    if constexpr (std::is_same_v<T, Half>) {
      return Half{static_cast<std::uint16_t>(bits())};
    } else if constexpr (std::is_same_v<T, float>) {
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits()));
    } else if constexpr (std::is_same_v<T, double>) {
      return number();
    } else if constexpr (std::is_same_v<T, bool>) {
      return below(2) == 0;
    } else if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits());
    } else {
      return T{};
    }
  }

  std::mt19937_64 engine_{20240229};
};

bool is_double(Element read, double number) {
  if (!std::isfinite(number)) {
    return read.is_null();
  }
  return read.is_double() && std::bit_cast<std::uint64_t>(double(read)) == std::bit_cast<std::uint64_t>(number);
}

bool is_same(Element read, const Value& value);

bool is_same_list(Element read, const List& list) {
  return read.is_array() && std::ranges::equal(simdjson::dom::array(read), list, is_same);
}

bool is_same_object(Element read, const Object& object) {
  if (!read.is_object() || simdjson::dom::object(read).size() != object.size()) {
    return false;
  }
  auto member = object.members().begin();
  for (const simdjson::dom::key_value_pair pair : simdjson::dom::object(read)) {
    if (pair.key != member->key || !is_same(pair.value, member->value)) {
      return false;
    }
    ++member;
  }
  return true;
}

bool is_same(Element read, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return read.is_null();
    case Value::Kind::kBool:
      return read.is_bool() && bool(read) == value.boolean();
    case Value::Kind::kInt:
      return read.is_int64() && std::int64_t(read) == value.integer();
    case Value::Kind::kUInt:
      return read.is_uint64() && std::uint64_t(read) == value.unsigned_integer();
    case Value::Kind::kDouble:
      return is_double(read, value.number());
    case Value::Kind::kText:
      return read.is_string() && std::string_view(read) == value.text();
    case Value::Kind::kList:
      return is_same_list(read, value.list());
    case Value::Kind::kObject:
      return is_same_object(read, value.object());
    case Value::Kind::kArray:
      break;
  }
  return false;
}

template <class T>
bool is_same_element(Element read, T element) {
  if constexpr (std::is_same_v<T, bool>) {
    return read.is_bool() && bool(read) == element;
  } else if constexpr (std::is_same_v<T, Half>) {
    return is_double(read, static_cast<double>(element.to_float()));
  } else if constexpr (std::is_floating_point_v<T>) {
    return is_double(read, static_cast<double>(element));
  } else {
    return is_same(read, Value(std::is_signed_v<T> ? Value(static_cast<std::int64_t>(element))
                                                   : Value(static_cast<std::uint64_t>(element))));
  }
}

// The elements below a list of lists, in order. `next` is moved on.
template <class T>
bool has_elements(Element read, const Shape& shape, std::size_t axis, const T*& next) {
  if (axis == shape.size()) {
    return is_same_element(read, *next++);
  }
  return read.is_array() && simdjson::dom::array(read).size() == static_cast<std::size_t>(shape[axis]) &&
         std::ranges::all_of(simdjson::dom::array(read),
                             [&](Element one) { return has_elements(one, shape, axis + 1, next); });
}

std::string json_of(const Value& value) {
  Body body;
  EXPECT_TRUE(write_value(value, Encoding{}, {}, body).has_value());
  return body.to_string();
}

TEST(IndependentReaderTest, ReadsTheValuesThatWereWritten) {
  RandomValues random;
  simdjson::dom::parser parser;
  for (int i = 0; i < 2000; ++i) {
    const Value value = random.value(4);
    const std::string text = json_of(value);
    Element read;
    ASSERT_EQ(parser.parse(text).get(read), simdjson::SUCCESS) << text;
    ASSERT_TRUE(is_same(read, value)) << text;
  }
}

TEST(IndependentReaderTest, ReadsTheElementsThatWereWritten) {
  RandomValues random;
  simdjson::dom::parser parser;
  for (const DType dtype : all_dtypes()) {
    if (kind_of(dtype) == DTypeKind::kComplex) {
      continue;  // their elements are texts
    }
    for (int i = 0; i < 100; ++i) {
      const Array array = random.array(dtype);
      const std::string text = json_of(array);
      Element read;
      ASSERT_EQ(parser.parse(text).at_pointer("/data/buffer").get(read), simdjson::SUCCESS) << text;
      visit_dtype(dtype, [&](auto zero) {
        using T = decltype(zero);
        if constexpr (!std::is_same_v<T, std::complex<float>> && !std::is_same_v<T, std::complex<double>>) {
          const T* next = array.values<T>().data();
          EXPECT_TRUE(has_elements(read, array.shape(), 0, next)) << text;
        }
      });
    }
  }
}

}  // namespace
}  // namespace tessera
