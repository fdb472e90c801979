#include "array_object.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "array_parts.h"
#include "binary_buffer.h"
#include "cuda_ipc_pattern.h"
#include "declared_type.h"
#include "json_buffer.h"
#include "tessera/array/base64.h"

namespace tessera {
namespace {

std::optional<WireEncoding> find_wire_encoding(std::string_view name, bool accepts_raw) {
  if (name == "json" || (accepts_raw && name == "raw")) {
    return WireEncoding::kJson;
  }
  if (name == "base64") {
    return WireEncoding::kBase64;
  }
  if (name == "binref") {
    return WireEncoding::kBinref;
  }
  return name == "cuda_ipc" ? std::optional(WireEncoding::kCudaIpc) : std::nullopt;
}

ArrayEncoding encoding_of(const ArrayParts& parts) {
  switch (parts.encoding) {
    case WireEncoding::kJson:
      return ArrayEncoding::kJson;
    case WireEncoding::kBase64:
      return parts.is_compressed ? ArrayEncoding::kBase64Lz4 : ArrayEncoding::kBase64;
    case WireEncoding::kBinref:
      return parts.is_compressed ? ArrayEncoding::kBinrefLz4 : ArrayEncoding::kBinref;
    case WireEncoding::kCudaIpc:
      break;
  }
  return ArrayEncoding::kCudaIpc;
}

// Of a member given twice the last counts, so each of these is set anew by each.
struct Data {
  std::optional<RawBuffer> buffer;
  std::optional<WireEncoding> encoding;
  bool is_compressed = false;
  bool is_compression_known = true;
  bool has_unknown_member = false;
};

class ArrayObjectReader {
 public:
  ArrayObjectReader(JsonScanner& scanner, const ArrayObjectContext& context) : scanner_(scanner), context_(context) {}

  std::variant<Array, ArrayFault> read(ArrayEncoding& encoding) {
    scanner_.enter();
    std::string_view key;
    while (scanner_.next_member(key)) {
      if (key == "shape") {
        shape_ = read_shape(scanner_, context_.spec.shape);
      } else if (key == "dtype") {
        dtype_ = read_dtype(scanner_, context_.spec.dtype);
      } else if (key == "data") {
        data_ = read_data();
      } else if (key == "object_type") {
        is_array_ = scanner_.read_optional_text() == "array";
      } else {
        has_unknown_member_ = true;
        scanner_.skip_value();
      }
    }
    std::optional<ArrayParts> parts = scanner_.has_fault() ? std::nullopt : take_parts();
    if (!parts) {
      ArrayFault malformed;
      malformed.kind = ArrayFault::Kind::kNonNumeric;
      return malformed;
    }
    encoding = encoding_of(*parts);
    return decode_array_parts(*std::move(parts), context_);
  }

 private:
  std::optional<Data> read_data() {
    Data data;
    switch (scanner_.peek()) {
      case JsonKind::kObject:
        break;
      case JsonKind::kList:
        // The form of the public documentation.
        data.buffer = read_buffer();
        data.encoding = WireEncoding::kJson;
        return data;
      default:
        scanner_.skip_value();
        return std::nullopt;
    }
    scanner_.enter();
    std::string_view key;
    while (scanner_.next_member(key)) {
      if (key == "buffer") {
        data.buffer = read_buffer();
      } else if (key == "encoding") {
        data.encoding = find_wire_encoding(scanner_.read_optional_text().value_or(std::string()), context_.accepts_raw);
      } else if (key == "compression") {
        const bool is_null = scanner_.peek() == JsonKind::kNull;
        data.is_compressed = scanner_.read_optional_text() == "lz4";
        data.is_compression_known = is_null || data.is_compressed;
      } else {
        data.has_unknown_member = true;
        scanner_.skip_value();
      }
    }
    return data;
  }

  RawBuffer read_buffer() {
    RawBuffer buffer;
    buffer.kind = scanner_.peek();
    const std::size_t begin = scanner_.offset();
    if (shape_ && dtype_ && shape_->size() <= kMaxArrayRank) {
      buffer.shape = *shape_;
      buffer.dtype = *dtype_;
      if (buffer.kind == JsonKind::kText) {
        decode_expected_base64(buffer);
      } else if (buffer.kind != JsonKind::kObject) {
        buffer.decoded = read_json_buffer(scanner_, *dtype_, *shape_);
        buffer.value = scanner_.text_since(begin);
        return buffer;
      }
    }
    if (buffer.decoded) {
      return buffer;
    }
    if (buffer.kind == JsonKind::kText) {
      buffer.text = scanner_.read_raw_text();
      buffer.value = scanner_.text_since(begin);
    } else {
      buffer.value = scanner_.skip_value();
    }
    return buffer;
  }

  // If the text has the length of the array's base64, decodes it without looking for its end first: what is decoded
  // strictly holds no quote, backslash or control character.
  void decode_expected_base64(RawBuffer& buffer) {
    const std::optional<std::uint64_t> size = byte_count(buffer.shape, buffer.dtype);
    if (!size || *size == 0 || *size > context_.limit_bytes) {
      return;
    }
    const std::size_t begin = scanner_.offset();
    // The bytes of a fold stay as they are, for the text to be unfolded from them; those of truth values may not.
    if (buffer.dtype != DType::kBool) {
      if (std::optional<Buffer> folded = scanner_.read_folded_text(static_cast<std::size_t>(*size))) {
        buffer.is_folded = true;
        buffer.decoded = adopt_bytes(buffer.dtype, buffer.shape, *std::move(folded));
        return;
      }
    }
    if (*size > scanner_.remaining()) {
      return;
    }
    const std::size_t length = base64_length(static_cast<std::size_t>(*size));
    const std::optional<std::string_view> text = scanner_.find_text_of_length(length);
    if (!text || base64_decoded_size(*text) != *size) {
      return;
    }
    Buffer bytes = Buffer::allocate(static_cast<std::size_t>(*size));
    if (!base64_decode(*text, bytes.bytes())) {
      return;
    }
    scanner_.accept_text_of_length(length);
    buffer.value = scanner_.text_since(begin);
    buffer.text.raw = *text;
    buffer.decoded = adopt_bytes(buffer.dtype, buffer.shape, std::move(bytes));
  }

  // The members, if they make an array object.
  std::optional<ArrayParts> take_parts() {
    if (!is_array_ || has_unknown_member_ || !shape_ || !dtype_ || !data_ || data_->has_unknown_member ||
        !data_->is_compression_known || !data_->encoding || !data_->buffer) {
      return std::nullopt;
    }
    ArrayParts parts{*dtype_, *std::move(shape_), *std::move(data_->buffer), *data_->encoding, data_->is_compressed};
    return is_admissible(parts) ? std::optional(std::move(parts)) : std::nullopt;
  }

  // Whether the buffer is of the kind that its encoding calls for.
  static bool is_admissible(const ArrayParts& parts) {
    const bool is_text = parts.buffer.kind == JsonKind::kText;
    switch (parts.encoding) {
      case WireEncoding::kJson:
        return !parts.is_compressed;
      case WireEncoding::kBase64:
        return is_text;
      case WireEncoding::kBinref: {
        const std::string text = decode_json_text(parts.buffer.text);
        return is_text && !text.empty() && text.find('\n') == std::string::npos;
      }
      case WireEncoding::kCudaIpc:
        return is_text && !parts.is_compressed && is_cuda_ipc_buffer(decode_json_text(parts.buffer.text));
    }
    return false;
  }

  JsonScanner& scanner_;
  const ArrayObjectContext& context_;
  bool is_array_ = true;
  bool has_unknown_member_ = false;
  std::optional<Shape> shape_;
  std::optional<DType> dtype_;
  std::optional<Data> data_;
};

}  // namespace

std::variant<Array, ArrayFault> read_array_object(JsonScanner& scanner, const ArrayObjectContext& context,
                                                  ArrayEncoding& encoding) {
  return ArrayObjectReader(scanner, context).read(encoding);
}

}  // namespace tessera
