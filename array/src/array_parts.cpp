#include "array_parts.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "binary_buffer.h"
#include "decode_fault.h"
#include "json_buffer.h"
#include "uncast.h"

namespace tessera {
namespace {

std::string_view name_of(WireEncoding encoding) {
  switch (encoding) {
    case WireEncoding::kJson:
      return "json";
    case WireEncoding::kBase64:
      return "base64";
    case WireEncoding::kBinref:
      return "binref";
    case WireEncoding::kCudaIpc:
      break;
  }
  return "cuda_ipc";
}

// An array without elements passes every other check of size, but its other sizes still count when it is written as
// nested lists.
bool is_sane_if_empty(Shape shape, DType dtype, std::uint64_t limit_bytes) {
  if (std::ranges::find(shape, 0) == shape.end()) {
    return true;
  }
  std::ranges::replace(shape, 0, 1);
  const std::optional<std::uint64_t> bytes = byte_count(shape, dtype);
  return bytes && *bytes <= limit_bytes;
}

// What was decoded while it was read, if that turned out to be right.
bool is_decoded(const ArrayParts& parts) {
  const bool is_as_guessed = parts.buffer.kind == JsonKind::kText
                                 ? parts.encoding == WireEncoding::kBase64 && !parts.is_compressed
                                 : parts.encoding == WireEncoding::kJson;
  return is_as_guessed && parts.buffer.dtype == parts.dtype && parts.buffer.shape == parts.shape;
}

// Type and shape are checked before anybody opens a handle.
std::variant<Array, ArrayFault> read_device_buffer(ArrayParts parts, const ArrayObjectContext& context) {
  constexpr std::string_view kCudaIpc = "cuda_ipc";
  if (context.device == nullptr) {
    return decode_fault(kCudaIpc, "GPU transport 'cuda_ipc' is not enabled on this Tesseract (available: ('none',))");
  }
  if (std::optional<ArrayFault> misfit =
          find_uncast_misfit(parts.dtype, parts.shape, context.spec, "cuda_ipc does not cast on device")) {
    return *std::move(misfit);
  }
  const std::optional<std::uint64_t> bytes = byte_count(parts.shape, parts.dtype);
  if (!bytes || *bytes > context.limit_bytes) {
    return over_limit(kCudaIpc, parts.shape, parts.dtype, context.limit_bytes);
  }
  Result<Array> array = context.device->read(decode_json_text(parts.buffer.text), parts.dtype, std::move(parts.shape));
  if (!array) {
    return decode_fault(kCudaIpc, array.error().message());
  }
  return *std::move(array);
}

}  // namespace

std::variant<Array, ArrayFault> decode_array_parts(ArrayParts parts, const ArrayObjectContext& context) {
  const std::string_view encoding = name_of(parts.encoding);
  if (parts.shape.size() > kMaxArrayRank) {
    return decode_fault(encoding, "maximum supported dimension for an ndarray is currently 64, found more");
  }
  // Sizes beyond 63 bits were read as the largest, which is none either: no other message shall show that.
  if (std::ranges::find(parts.shape, std::numeric_limits<std::int64_t>::max()) != parts.shape.end()) {
    return decode_fault(encoding, "Maximum allowed dimension exceeded");
  }
  if (!is_sane_if_empty(parts.shape, parts.dtype, context.limit_bytes)) {
    return over_limit(encoding, parts.shape, parts.dtype, context.limit_bytes);
  }
  if (parts.buffer.decoded && is_decoded(parts)) {
    return *std::move(parts.buffer.decoded);
  }
  if (parts.buffer.is_folded) {
    return decode_fault(encoding, "a folded text is no such buffer");  // nobody sees it: it is read again, unfolded
  }
  const JsonText& text = parts.buffer.text;
  const BinaryLayout layout{parts.dtype, parts.shape, parts.is_compressed, context.limit_bytes};
  switch (parts.encoding) {
    case WireEncoding::kJson: {
      JsonScanner again(parts.buffer.value, JsonScanner::Options{parts.buffer.value.size()});
      return read_json_buffer(again, parts.dtype, parts.shape);
    }
    case WireEncoding::kBase64:
      return text.has_escapes ? read_base64_buffer(decode_json_text(text), layout)
                              : read_base64_buffer(text.raw, layout);
    case WireEncoding::kBinref:
      return read_binref_buffer(decode_json_text(text), layout, context.files);
    case WireEncoding::kCudaIpc:
      break;
  }
  return read_device_buffer(std::move(parts), context);
}

}  // namespace tessera
