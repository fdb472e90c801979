#include "declared_type.h"

#include <cmath>
#include <limits>
#include <string>

#include "tessera/array/python_number.h"

namespace tessera {
namespace {

// More than NumPy can have; what is longer is refused when it is decoded, and need not be kept.
constexpr std::size_t kMaxKeptRank = 65;

constexpr double kBeyondInt64 = 9223372036854775808.0;

std::optional<std::int64_t> size_from_number(const JsonNumber& number) {
  switch (number.kind) {
    case JsonNumber::Kind::kInt:
      return number.integer;
    case JsonNumber::Kind::kUInt:
    case JsonNumber::Kind::kHugeInt:
      return number.real < 0.0 ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
    case JsonNumber::Kind::kDouble:
      break;
  }
  const bool is_whole = std::trunc(number.real) == number.real && std::abs(number.real) < kBeyondInt64;
  return is_whole ? std::optional(static_cast<std::int64_t>(number.real)) : std::nullopt;
}

// One size. Where the declaration names sizes, texts do not count as numbers (Python's Literal against its int).
std::optional<std::int64_t> read_size(JsonScanner& scanner, bool takes_texts) {
  const JsonKind kind = scanner.peek();
  switch (kind) {
    case JsonKind::kNumber:
      return size_from_number(scanner.read_number());
    case JsonKind::kTrue:
    case JsonKind::kFalse:
      scanner.read_literal();
      return kind == JsonKind::kTrue ? 1 : 0;
    case JsonKind::kText: {
      const std::string text = scanner.read_text();
      return takes_texts ? parse_lax_integer(text) : std::nullopt;
    }
    default:
      scanner.skip_value();
      return std::nullopt;
  }
}

bool is_admitted(std::int64_t size, std::int64_t declared) {
  return declared == kFreeAxis ? size >= 0 : size == declared || size == 1;
}

}  // namespace

std::optional<Shape> read_shape(JsonScanner& scanner, const std::optional<Shape>& declared) {
  if (scanner.peek() != JsonKind::kList) {
    scanner.skip_value();
    return std::nullopt;
  }
  Shape shape;
  bool is_admissible = true;
  std::size_t axis = 0;
  scanner.enter();
  for (; scanner.next_item(); ++axis) {
    if (!is_admissible || (declared && axis >= declared->size())) {
      is_admissible = false;
      scanner.skip_value();
      continue;
    }
    const std::int64_t allowed = declared ? (*declared)[axis] : kFreeAxis;
    const std::optional<std::int64_t> size = read_size(scanner, allowed == kFreeAxis);
    is_admissible = size && is_admitted(*size, allowed);
    if (is_admissible && axis < kMaxKeptRank) {
      shape.push_back(*size);
    }
  }
  if (!is_admissible || (declared && axis != declared->size())) {
    return std::nullopt;
  }
  return shape;
}

std::optional<DType> read_dtype(JsonScanner& scanner, std::optional<DType> declared) {
  if (scanner.peek() != JsonKind::kText) {
    scanner.skip_value();
    return std::nullopt;
  }
  const std::optional<DType> dtype = find_dtype(scanner.read_text());
  return dtype && (!declared || is_castable(*dtype, *declared)) ? dtype : std::nullopt;
}

}  // namespace tessera
