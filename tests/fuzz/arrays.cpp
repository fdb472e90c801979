#include "arrays.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <type_traits>
#include <variant>

#include "support/arriving.h"
#include "tessera/array/body.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/value_writer.h"

namespace tessera::fuzzing {
namespace {

template <class Real>
bool is_real_kept(Real before, Real after) {
  return before == after || (std::isnan(after) && !std::isfinite(before));
}

// Parts of a complex number are words, so infinities stay.
template <class Real>
bool is_part_kept(Real before, Real after) {
  return before == after || (std::isnan(before) && std::isnan(after));
}

bool is_element_kept(Half before, Half after) {
  return is_real_kept(before.to_float(), after.to_float());
}

template <class T>
bool is_element_kept(T before, T after) {
  if constexpr (std::is_floating_point_v<T>) {
    return is_real_kept(before, after);
  } else {
    return before == after;
  }
}

template <class Real>
bool is_element_kept(std::complex<Real> before, std::complex<Real> after) {
  return is_part_kept(before.real(), after.real()) && is_part_kept(before.imag(), after.imag());
}

}  // namespace

DType pick_dtype(Input& input) {
  return all_dtypes()[input.pick(kDTypeCount)];
}

Shape pick_shape(Input& input) {
  Shape shape(input.pick(4));
  for (std::int64_t& size : shape) {
    size = input.byte();
  }
  return shape;
}

ArraySpec pick_spec(Input& input) {
  ArraySpec spec;
  if (const std::size_t dtype = input.pick(kDTypeCount + 1); dtype < kDTypeCount) {
    spec.dtype = all_dtypes()[dtype];
  }
  switch (input.pick(5)) {
    case 0:
      break;
    case 1:
      spec.shape = Shape{kFreeAxis};
      break;
    case 2:
      spec.shape = Shape{};
      break;
    case 3:
      spec.shape = Shape{2, 3};
      break;
    default:
      spec.shape = Shape{kFreeAxis, 1, 4};
      break;
  }
  return spec;
}

std::string array_object(DType dtype, const Shape& shape, std::string_view buffer, std::string_view encoding,
                         bool is_compressed) {
  std::string text = R"({"object_type":"array","shape":[)";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    text += (axis > 0 ? "," : "") + std::to_string(shape[axis]);
  }
  text.append(R"(],"dtype":")").append(name_of(dtype)).append(R"(","data":{"buffer":)").append(buffer);
  text.append(R"(,"encoding":")").append(encoding).append("\"");
  return text.append(is_compressed ? R"(,"compression":"lz4"}})" : "}}");
}

std::string json_text(std::string_view text) {
  std::string out;
  append_json_text(out, text);
  return out;
}

std::optional<Array> read_array(const ArrayReader& reader, std::string_view text, const ArraySpec& spec) {
  JsonScanner scanner(text);
  std::variant<Array, ArrayFault> read = reader.read(scanner, spec);
  scanner.expect_end();
  if (scanner.has_fault() || std::holds_alternative<ArrayFault>(read)) {
    return std::nullopt;
  }
  return std::get<Array>(std::move(read));
}

std::string written(const Array& array, const Encoding& encoding) {
  Body body;
  require(write_value(array, encoding, {}, body).has_value(), "an array can be written");
  return body.to_string();
}

ArrivingText arrive(std::string_view text, std::size_t piece) {
  ArrivingText arriving = testing::arrive(text, piece, {.array_bytes = 1, .text_bytes = 1});
  require(arriving.room().empty(), "all has come");
  return arriving;
}

bool are_same(const Array& left, const Array& right) {
  return left.dtype() == right.dtype() && left.shape() == right.shape() &&
         std::ranges::equal(left.bytes(), right.bytes());
}

bool is_kept_by_json(const Array& array, const Array& read) {
  if (array.dtype() != read.dtype() || array.shape() != read.shape()) {
    return false;
  }
  return visit_dtype(array.dtype(), [&array, &read](auto element) {
    using T = decltype(element);
    return std::ranges::equal(array.values<T>(), read.values<T>(),
                              [](const T& before, const T& after) { return is_element_kept(before, after); });
  });
}

}  // namespace tessera::fuzzing
