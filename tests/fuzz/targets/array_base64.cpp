// Buffers in base64, compressed or not, of every dtype and shape; and both codecs beside each other.
#include <algorithm>
#include <string>
#include <vector>

#include "arrays.h"
#include "input.h"
#include "targets.h"
#include "tessera/array/base64.h"

namespace tessera::fuzzing {
namespace {

// What the text decodes to; nothing if it is not base64.
std::optional<std::vector<std::byte>> decoded(std::string_view text) {
  const std::optional<std::size_t> size = base64_decoded_size(text);
  if (!size.has_value()) {
    return std::nullopt;
  }
  std::vector<std::byte> fast(*size);
  std::vector<std::byte> scalar(*size);
  const bool is_good = base64_decode(text, fast);
  require(is_good == base64_decode_scalar(text, scalar), "both decoders take the same texts");
  if (!is_good) {
    return std::nullopt;
  }
  require(fast == scalar, "both decoders give the same bytes");
  std::string encoded(base64_length(fast.size()), '\0');
  base64_encode(fast, encoded.data());
  require(encoded == text, "the text of bytes is one");
  return fast;
}

}  // namespace

void fuzz_array_base64(std::string_view bytes) {
  Input input(bytes);
  const DType dtype = pick_dtype(input);
  const Shape shape = pick_shape(input);
  const bool is_compressed = input.pick(2) == 1;
  const std::string_view text = input.rest();

  const std::optional<std::vector<std::byte>> data = decoded(text);
  const ArrayReader reader(nullptr, {kMaxArrayBytes});
  const std::optional<Array> array =
      read_array(reader, array_object(dtype, shape, json_text(text), "base64", is_compressed));
  if (array.has_value()) {
    require(data.has_value(), "only base64 is decoded");
    require(array->dtype() == dtype && array->shape() == shape, "an array is what its object says");
  }
  // Of a bool only whether it is zero arrives.
  if (!is_compressed && dtype != DType::kBool && data.has_value() && data->size() == byte_count(shape, dtype)) {
    require(array.has_value() && std::ranges::equal(array->bytes(), *data), "bytes arrive as they are");
  }
}

}  // namespace tessera::fuzzing
