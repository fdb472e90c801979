#include "device_inputs.h"

#include <string>
#include <utility>

namespace tessera {

std::string import_failure(const GpuTransport& transport, const Error& error) {
  return error.native_code() == 0 ? error.message() : text_of(transport.explain(error));
}

Result<Array> DeviceInputs::read(std::string_view reference, DType dtype, Shape shape) const {
  GpuTransport& transport = *exchange_.transport();
  // What goes on to the host is copied once: there.
  Result<ImportedArray> imported = transport.import_array(
      reference, dtype, std::move(shape), to_host_ ? GpuTransport::Borrow::kYes : GpuTransport::Borrow::kNo);
  if (!imported) {
    return Error(imported.error().code(), import_failure(transport, imported.error()));
  }
  return to_host_ ? exchange_.to_host(imported->array) : std::move(imported->array);
}

}  // namespace tessera
