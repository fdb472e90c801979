#include "decode_fault.h"

#include <utility>

#include "tessera/base/python_text.h"

namespace tessera {
namespace {

// As NumPy writes shapes in this one message: without spaces.
std::string tight_tuple(const Shape& shape) {
  std::string text = "(";
  for (std::size_t axis = 0; axis != shape.size(); ++axis) {
    text += (axis == 0 ? "" : ",") + std::to_string(shape[axis]);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace

ArrayFault decode_fault(std::string_view encoding, std::string reason) {
  ArrayFault fault;
  fault.kind = ArrayFault::Kind::kDecode;
  fault.encoding = encoding;
  fault.reason = std::move(reason);
  return fault;
}

std::string cannot_reshape(std::uint64_t count, const Shape& shape) {
  return "cannot reshape array of size " + std::to_string(count) + " into shape " + tight_tuple(shape);
}

ArrayFault over_limit(std::string_view encoding, const Shape& shape, DType dtype, std::uint64_t limit_bytes) {
  ArrayFault fault =
      decode_fault(encoding, "an array of shape " + python_tuple(shape) + " and dtype " + std::string(name_of(dtype)) +
                                 " is larger than the limit of " + std::to_string(limit_bytes) + " bytes");
  fault.is_over_limit = true;
  return fault;
}

}  // namespace tessera
