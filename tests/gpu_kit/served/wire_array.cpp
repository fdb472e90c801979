#include "served/wire_array.h"

#include <stdexcept>

#include "exporter/byte_arrays.h"
#include "tessera/array/base64.h"

namespace tessera::gpu_kit {
namespace {

nlohmann::json object_of(const Array& array, const std::string& buffer, const char* encoding) {
  return {{"object_type", "array"},
          {"shape", array.shape()},
          {"dtype", std::string(name_of(array.dtype()))},
          {"data", {{"buffer", buffer}, {"encoding", encoding}}}};
}

}  // namespace

nlohmann::json to_base64(const Array& array) {
  std::string text(base64_length(array.size_bytes()), '\0');
  base64_encode(array.bytes(), text.data());
  return object_of(array, text, "base64");
}

nlohmann::json to_reference(const Array& array, const ExportedArray& exported) {
  return object_of(array, exported.reference, "cuda_ipc");
}

Array read_array(const nlohmann::json& text, GpuTransport& transport) {
  const auto dtype = find_dtype(text.at("dtype").get<std::string>());
  if (!dtype) {
    throw std::runtime_error("the answer has an unknown dtype");
  }
  const auto shape = text.at("shape").get<Shape>();
  const nlohmann::json& data = text.at("data");
  const auto buffer = data.at("buffer").get<std::string>();
  if (data.at("encoding") == "cuda_ipc") {
    return must(transport.import_array(buffer, *dtype, shape, GpuTransport::Borrow::kNo)).array;
  }
  Array array = Array::allocate(*dtype, shape);
  if (base64_decoded_size(buffer) != array.size_bytes() || !base64_decode(buffer, array.mutable_bytes())) {
    throw std::runtime_error("the answer's base64 does not fit its shape");
  }
  return array;
}

}  // namespace tessera::gpu_kit
