#include "array_object.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "binary_buffer.h"
#include "cuda_ipc_pattern.h"
#include "declared_type.h"
#include "decode_fault.h"
#include "json_buffer.h"
#include "tessera/array/base64.h"

namespace tessera {
namespace {

// NumPy's bound.
constexpr std::size_t kMaxRank = 64;

enum class WireEncoding { kJson, kBase64, kBinref, kCudaIpc };

std::optional<WireEncoding> find_wire_encoding(std::string_view name) {
  if (name == "json") {
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

ArrayFault malformed() {
  ArrayFault fault;
  fault.kind = ArrayFault::Kind::kNonNumeric;
  return fault;
}

// The value of "buffer". It is decoded while it is read if the members before it say how it probably is encoded; its
// text is kept for the case that the members behind it say otherwise.
struct RawBuffer {
  JsonKind kind = JsonKind::kInvalid;
  std::string_view value;
  JsonText text;  // kText only
  // Decoded as base64 (a text) or json (all else), for these:
  std::optional<std::variant<Array, ArrayFault>> decoded;
  DType dtype = DType::kFloat64;
  Shape shape;
};

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

  std::variant<Array, ArrayFault> read() {
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
        is_array_ = read_optional_text() == "array";
      } else {
        has_unknown_member_ = true;
        scanner_.skip_value();
      }
    }
    if (scanner_.has_fault() || !is_well_formed()) {
      return malformed();
    }
    return decode();
  }

 private:
  // The text that stands here, or nothing if it is another value, which is passed.
  std::optional<std::string> read_optional_text() {
    if (scanner_.peek() == JsonKind::kText) {
      return scanner_.read_text();
    }
    scanner_.skip_value();
    return std::nullopt;
  }

  std::optional<Data> read_data() {
    Data data;
    switch (scanner_.peek()) {
      case JsonKind::kObject:
        break;
      case JsonKind::kList:
      case JsonKind::kNumber:
      case JsonKind::kTrue:
      case JsonKind::kFalse:
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
        data.encoding = find_wire_encoding(read_optional_text().value_or(std::string()));
      } else if (key == "compression") {
        const bool is_null = scanner_.peek() == JsonKind::kNull;
        data.is_compressed = read_optional_text() == "lz4";
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
    if (shape_ && dtype_ && shape_->size() <= kMaxRank) {
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
    if (!size || *size == 0 || *size > scanner_.remaining() || *size > context_.limit_bytes) {
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
    const std::size_t begin = scanner_.offset();
    scanner_.accept_text_of_length(length);
    buffer.value = scanner_.text_since(begin);
    buffer.text.raw = *text;
    buffer.decoded = adopt_bytes(buffer.dtype, buffer.shape, std::move(bytes));
  }

  [[nodiscard]] bool is_well_formed() const {
    if (!is_array_ || has_unknown_member_ || !shape_ || !dtype_ || !data_ || data_->has_unknown_member ||
        !data_->is_compression_known || !data_->encoding || !data_->buffer) {
      return false;
    }
    switch (*data_->encoding) {
      case WireEncoding::kJson:
        return !data_->is_compressed;
      case WireEncoding::kBase64:
        return data_->buffer->kind == JsonKind::kText;
      case WireEncoding::kBinref: {
        const std::string text = buffer_text();
        return data_->buffer->kind == JsonKind::kText && !text.empty() && text.find('\n') == std::string::npos;
      }
      case WireEncoding::kCudaIpc:
        return data_->buffer->kind == JsonKind::kText && !data_->is_compressed && is_cuda_ipc_buffer(buffer_text());
    }
    return false;
  }

  [[nodiscard]] std::string buffer_text() const { return decode_json_text(data_->buffer->text); }

  // An array without elements passes every other check of size, but its other sizes still count when it is written as
  // nested lists.
  [[nodiscard]] bool is_sane_if_empty(Shape shape) const {
    if (std::find(shape.begin(), shape.end(), 0) == shape.end()) {
      return true;
    }
    std::replace(shape.begin(), shape.end(), std::int64_t{0}, std::int64_t{1});
    const std::optional<std::uint64_t> bytes = byte_count(shape, *dtype_);
    return bytes && *bytes <= context_.limit_bytes;
  }

  // Requires: is_well_formed().
  std::variant<Array, ArrayFault> decode() {
    constexpr std::string_view kNames[] = {"json", "base64", "binref", "cuda_ipc"};
    RawBuffer& buffer = *data_->buffer;
    if (shape_->size() > kMaxRank) {
      return decode_fault(kNames[static_cast<std::size_t>(*data_->encoding)],
                          "maximum supported dimension for an ndarray is currently 64, found more");
    }
    if (!is_sane_if_empty(*shape_)) {
      return decode_fault(kNames[static_cast<std::size_t>(*data_->encoding)],
                          over_limit(*shape_, *dtype_, context_.limit_bytes));
    }
    const bool is_base64 = *data_->encoding == WireEncoding::kBase64 && !data_->is_compressed;
    const bool is_json = *data_->encoding == WireEncoding::kJson;
    if (buffer.decoded && (buffer.kind == JsonKind::kText ? is_base64 : is_json) && buffer.dtype == *dtype_ &&
        buffer.shape == *shape_) {
      return *std::move(buffer.decoded);
    }
    const BinaryLayout layout{*dtype_, *shape_, data_->is_compressed, context_.limit_bytes};
    switch (*data_->encoding) {
      case WireEncoding::kJson: {
        JsonScanner again(buffer.value, JsonScanner::Limits{buffer.value.size()});
        return read_json_buffer(again, *dtype_, *shape_);
      }
      case WireEncoding::kBase64:
        return buffer.text.has_escapes ? read_base64_buffer(buffer_text(), layout)
                                       : read_base64_buffer(buffer.text.raw, layout);
      case WireEncoding::kBinref:
        return read_binref_buffer(buffer_text(), layout, context_.files);
      case WireEncoding::kCudaIpc:
        break;
    }
    return decode_fault(kNames[static_cast<std::size_t>(WireEncoding::kCudaIpc)],
                        "GPU transport 'cuda_ipc' is not enabled on this Tesseract (available: ('none',))");
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

std::variant<Array, ArrayFault> read_array_object(JsonScanner& scanner, const ArrayObjectContext& context) {
  return ArrayObjectReader(scanner, context).read();
}

}  // namespace tessera
