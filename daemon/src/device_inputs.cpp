#include "device_inputs.h"

#include <cstring>
#include <string>
#include <utility>

namespace tessera {

bool may_name_gpu_arrays(std::string_view body) {
  constexpr std::string_view kEncoding = "cuda_ipc";
  constexpr std::string_view kEscape = "\\u";  // by which the name could be written, too
  return !body.empty() && (::memmem(body.data(), body.size(), kEncoding.data(), kEncoding.size()) != nullptr ||
                           ::memmem(body.data(), body.size(), kEscape.data(), kEscape.size()) != nullptr);
}

std::string import_failure(const GpuTransport& transport, const Error& error) {
  return error.native_code() == 0 ? error.message() : text_of(transport.explain(error));
}

Result<Array> DeviceInputs::read(std::string_view reference, DType dtype, Shape shape) const {
  GpuTransport& transport = *exchange_.transport();
  // What goes on to the host is copied once: there.
  Result<ImportedArray> imported = transport.import_array(
      reference, dtype, std::move(shape), to_host_ ? GpuTransport::Borrow::kYes : GpuTransport::Borrow::kNo);
  if (!imported) {
    is_gpu_full_ = is_gpu_full_ || imported.error().code() == ErrorCode::kOutOfMemory;
    return Error(imported.error().code(), import_failure(transport, imported.error()));
  }
  if (!to_host_) {
    return std::move(imported->array);
  }
  ++through_host_;
  return exchange_.to_host(imported->array);
}

}  // namespace tessera
