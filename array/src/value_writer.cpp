#include "tessera/array/value_writer.h"

#include <string>
#include <string_view>
#include <utility>

#include "json_array_writer.h"
#include "tessera/array/base64.h"
#include "tessera/array/json_number.h"
#include "tessera/array/json_scanner.h"
#include "tessera/array/lz4_frame.h"

namespace tessera {
namespace {

// Below, base64 is encoded at once: cheaper than a segment of its own.
constexpr std::size_t kSmallArrayBytes = 1536;
constexpr std::size_t kFullText = 4096;

class ValueWriter {
 public:
  ValueWriter(const Encoding& encoding, const ArrayWriters& writers, Body& body)
      : encoding_(encoding), files_(writers.files), device_(writers.device), body_(body) {}

  Status write(const Value& value) {
    switch (value.kind()) {
      case Value::Kind::kNull:
        text_ += "null";
        break;
      case Value::Kind::kBool:
        text_ += value.boolean() ? "true" : "false";
        break;
      case Value::Kind::kInt:
        append_number([&](char* out) { return write_json_integer(out, value.integer()); });
        break;
      case Value::Kind::kUInt:
        append_number([&](char* out) { return write_json_unsigned(out, value.unsigned_integer()); });
        break;
      case Value::Kind::kDouble:
        append_number([&](char* out) { return write_json_double(out, value.number()); });
        break;
      case Value::Kind::kText:
        append_json_text(text_, value.text());
        break;
      case Value::Kind::kList:
        return write_list(value.list());
      case Value::Kind::kObject:
        return write_object(value.object());
      case Value::Kind::kArray:
        return write_array(value.array());
    }
    if (text_.size() >= kFullText) {
      flush();
    }
    return {};
  }

  // Moves the text gathered so far to the body.
  void flush() {
    body_.append(text_);
    text_.clear();
  }

 private:
  template <class Write>
  void append_number(Write write) {
    char digits[kMaxDoubleLength];
    text_.append(digits, static_cast<std::size_t>(write(digits) - digits));
  }

  Status write_list(const List& list) {
    text_.push_back('[');
    for (std::size_t i = 0; i != list.size(); ++i) {
      if (i != 0) {
        text_.push_back(',');
      }
      TESSERA_RETURN_IF_ERROR(write(list[i]));
    }
    text_.push_back(']');
    return {};
  }

  Status write_object(const Object& object) {
    text_.push_back('{');
    bool is_first = true;
    for (const Object::Member& member : object.members()) {
      if (!std::exchange(is_first, false)) {
        text_.push_back(',');
      }
      append_json_text(text_, member.key);
      text_.push_back(':');
      TESSERA_RETURN_IF_ERROR(write(member.value));
    }
    text_.push_back('}');
    return {};
  }

  // `"shape":[…],"dtype":"…"`
  void append_type(const Array& array) {
    text_ += R"("shape":[)";
    for (std::size_t axis = 0; axis != array.rank(); ++axis) {
      if (axis != 0) {
        text_.push_back(',');
      }
      append_number([&](char* out) { return write_json_integer(out, array.shape()[axis]); });
    }
    text_ += R"(],"dtype":")";
    text_ += name_of(array.dtype());
    text_.push_back('"');
  }

  Status write_array(const Array& array) {
    if (!array.has_data()) {
      text_.push_back('{');
      append_type(array);
      text_.push_back('}');
      return {};
    }
    text_ += R"({"object_type":"array",)";
    append_type(array);
    text_ += R"(,"data":{"buffer":)";
    TESSERA_RETURN_IF_ERROR(array.is_on_device() ? write_device_buffer(array) : write_buffer(array));
    text_ += "}}";
    return {};
  }

  Status write_device_buffer(const Array& array) {
    if (device_ == nullptr) {
      TESSERA_ASSIGN_OR_RETURN(const Array copy, array.to_host());
      return write_buffer(copy);
    }
    TESSERA_ASSIGN_OR_RETURN(const std::optional<std::string> reference, device_->write(array));
    if (!reference) {
      TESSERA_ASSIGN_OR_RETURN(const Array copy, device_->to_host(array));
      return write_buffer(copy);
    }
    append_json_text(text_, *reference);
    text_ += R"(,"encoding":"cuda_ipc")";
    return {};
  }

  // The members of "data", behind `"buffer":`.
  Status write_buffer(const Array& array) {
    switch (encoding_.format) {
      case OutputFormat::kJson:
        flush();
        TESSERA_RETURN_IF_ERROR(write_json_elements(array, body_));
        text_ += R"(,"encoding":"json")";
        return {};
      case OutputFormat::kBase64:
        if (encoding_.compression == Compression::kLz4) {
          Buffer frame = lz4_compress(array.bytes());
          const std::size_t size = frame.size_bytes();
          append_base64(std::move(frame), size);
        } else {
          append_base64(array.buffer(), array.size_bytes());
        }
        append_encoding("base64");
        return {};
      case OutputFormat::kBinref:
        TESSERA_RETURN_IF_ERROR(write_binref(array));
        append_encoding("binref");
        return {};
    }
    return {};
  }

  void append_base64(Buffer bytes, std::size_t size_bytes) {
    text_.push_back('"');
    if (size_bytes <= kSmallArrayBytes) {
      const std::size_t begin = text_.size();
      text_.resize(begin + base64_length(size_bytes));
      base64_encode(bytes.bytes().first(size_bytes), text_.data() + begin);
    } else {
      flush();
      body_.append_base64(std::move(bytes), size_bytes);
    }
    text_.push_back('"');
  }

  Status write_binref(const Array& array) {
    if (files_ == nullptr) {
      return Error(ErrorCode::kInternal, "json+binref needs a folder for its files");
    }
    const bool is_compressed = encoding_.compression == Compression::kLz4;
    const Buffer frame = is_compressed ? lz4_compress(array.bytes()) : Buffer();
    TESSERA_ASSIGN_OR_RETURN(const std::string reference,
                             files_->append(is_compressed ? frame.bytes() : array.bytes(), is_compressed));
    append_json_text(text_, reference);
    return {};
  }

  void append_encoding(std::string_view name) {
    text_ += R"(,"encoding":")";
    text_ += name;
    text_ += encoding_.compression == Compression::kLz4 ? R"(","compression":"lz4")" : R"(")";
  }

  const Encoding& encoding_;
  BinrefWriter* files_;
  DeviceArrayWriter* device_;
  Body& body_;
  std::string text_;
};

}  // namespace

Status write_value(const Value& value, const Encoding& encoding, const ArrayWriters& writers, Body& body) {
  ValueWriter writer(encoding, writers, body);
  TESSERA_RETURN_IF_ERROR(writer.write(value));
  writer.flush();
  return {};
}

}  // namespace tessera
