#include "response_value.h"

#include <cstddef>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "tessera/array/array_reader.h"
#include "tessera/array/json_scanner.h"
#include "tessera/sdk/client_error.h"

namespace tessera {
namespace {

[[noreturn]] void throw_bad_json(const std::string& why) {
  throw ClientError(ClientError::Kind::kBadResponse, "the server's response cannot be read: " + why);
}

std::string text_of(const JsonFault& fault) {
  switch (fault.kind) {
    case JsonFault::Kind::kSyntax:
      return "it is no JSON: " + fault.text + " at character " + std::to_string(fault.position);
    case JsonFault::Kind::kTooDeep:
      return "it is nested too deeply";
    case JsonFault::Kind::kNotUtf8:
      return "it is not UTF-8";
  }
  return "it is no JSON";
}

std::string text_of(const ArrayFault& fault) {
  if (!fault.reason.empty()) {
    return fault.reason;
  }
  switch (fault.kind) {
    case ArrayFault::Kind::kOutOfRange:
      return "a value is out of the range of its dtype: " + fault.value;
    case ArrayFault::Kind::kShape:
    case ArrayFault::Kind::kDimensionality:
      return "the number of values is not that of its shape";
    case ArrayFault::Kind::kDType:
    case ArrayFault::Kind::kExpectedInteger:
      return "a value is not of its dtype";
    default:
      return "it is not an array as this protocol writes them";
  }
}

class ResponseReader {
 public:
  ResponseReader(std::string_view text, const ArraySources* sources, const ArrivingText* arrived = nullptr)
      : scanner_(text, {.arrived = arrived}),
        decodes_arrays_(sources != nullptr),
        has_files_(sources != nullptr && sources->files != nullptr),
        arrays_(has_files_ ? sources->files : nullptr, {.accepts_raw = true},
                sources != nullptr ? sources->device : nullptr) {}

  Value read() {
    Value value = read_value();
    scanner_.expect_end();
    if (scanner_.has_fault()) {
      throw_bad_json(text_of(scanner_.fault()));
    }
    return value;
  }

 private:
  Value read_value() {
    switch (scanner_.peek()) {
      case JsonKind::kNull:
        scanner_.read_literal();
        return nullptr;
      case JsonKind::kTrue:
        scanner_.read_literal();
        return true;
      case JsonKind::kFalse:
        scanner_.read_literal();
        return false;
      case JsonKind::kNumber:
        return read_number();
      case JsonKind::kText:
        return scanner_.read_text();
      case JsonKind::kList:
        return read_list();
      case JsonKind::kObject:
        return read_object();
      case JsonKind::kInvalid:
        break;
    }
    return nullptr;  // read() finds the fault
  }

  Value read_number() {
    const JsonNumber number = scanner_.read_number();
    switch (number.kind) {
      case JsonNumber::Kind::kInt:
        return number.integer;
      case JsonNumber::Kind::kUInt:
        return number.unsigned_integer;
      case JsonNumber::Kind::kHugeInt:
      case JsonNumber::Kind::kDouble:
        break;
    }
    return number.real;
  }

  Value read_list() {
    List list;
    scanner_.enter();
    while (scanner_.next_item()) {
      place_.push_back(std::to_string(list.size()));
      list.push_back(read_value());
      place_.pop_back();
    }
    return list;
  }

  Value read_object() {
    const JsonScanner before = scanner_;
    Object object;
    bool is_array = false;
    std::string_view key;
    scanner_.enter();
    while (scanner_.next_member(key)) {
      std::string name(key);
      const bool is_type = decodes_arrays_ && name == "object_type";
      place_.push_back(name);
      Value value = read_value();
      place_.pop_back();
      if (is_type) {
        is_array = value.kind() == Value::Kind::kText && value.text() == "array";
        // Servers write it first. Should it come later, what was read so far is read again.
        if (is_array) {
          break;
        }
      }
      object.set(std::move(name), std::move(value));
    }
    if (!is_array) {
      return object;
    }
    scanner_ = before;
    return read_array();
  }

  Value read_array() {
    std::variant<Array, ArrayFault> read = arrays_.read(scanner_, ArraySpec());
    if (scanner_.has_fault()) {
      throw_bad_json(text_of(scanner_.fault()));
    }
    if (const auto* const fault = std::get_if<ArrayFault>(&read)) {
      refuse(*fault);
    }
    return std::get<Array>(std::move(read));
  }

  [[noreturn]] void refuse(const ArrayFault& fault) const {
    std::string where = "the result";
    for (const std::string& part : place_) {
      where += place_.front() == part && &part == &place_.front() ? ": " + part : "." + part;
    }
    if (fault.encoding == "cuda_ipc") {
      throw ClientError(ClientError::Kind::kGpu,
                        "Received a GPU array via the 'cuda_ipc' transport (" + where +
                            "), but this client could not read it onto the local GPU (" + text_of(fault) +
                            "). Request gpu_transport='none' to have arrays copied to the host instead, or use "
                            "resolve_gpu_transport to find a transport that works between this process and the "
                            "Tesseract.");
    }
    if (fault.encoding == "binref" && !has_files_) {
      throw ClientError(ClientError::Kind::kInvalidArgument,
                        "output_path must be set to decode a json+binref response: give the folder that the server "
                        "writes to, as this process sees it, as server_output_path");
    }
    throw_bad_json("an array of " + where + " (" + (fault.encoding.empty() ? "no encoding" : fault.encoding) +
                   "): " + text_of(fault));
  }

  JsonScanner scanner_;
  bool decodes_arrays_;
  bool has_files_;
  ArrayReader arrays_;
  std::vector<std::string> place_;
};

}  // namespace

Value read_response_value(std::string_view text, const ArraySources& sources) {
  return ResponseReader(text, &sources).read();
}

Value read_response_value(ArrivingText& text, const ArraySources& sources) {
  if (text.is_folded()) {
    try {
      return ResponseReader(text.text(), &sources, &text).read();
    } catch (const ClientError&) {
      text.unfold();  // what is wrong is told of the text as it was sent
    }
  }
  return ResponseReader(text.text(), &sources).read();
}

Value read_plain_value(std::string_view text) {
  return ResponseReader(text, nullptr).read();
}

}  // namespace tessera
