#include "tessera/ipc/descriptor.h"

#include <array>
#include <charconv>
#include <memory>
#include <vector>

#include "tessera/array/base64.h"

namespace tessera {
namespace {

constexpr std::size_t kHandleBytes = sizeof(IpcMemHandle::bytes);

Error fault(const std::string& what) {
  return {ErrorCode::kInvalidArgument, "cuda_ipc descriptor: " + what};
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t colon = text.find(':');
    parts.push_back(text.substr(0, colon));
    // A fifth part is a fault already; there may be millions.
    if (colon == std::string_view::npos || parts.size() > 4) {
      return parts;
    }
    text.remove_prefix(colon + 1);
  }
}

Result<std::optional<IpcMemHandle>> read_handle(std::string_view text) {
  if (text.empty()) {
    return std::optional<IpcMemHandle>();
  }
  const std::optional<std::size_t> size_bytes = base64_decoded_size(text);
  if (!size_bytes) {
    return fault("its handle is not base64");
  }
  if (*size_bytes != kHandleBytes) {
    return fault("its handle has " + std::to_string(*size_bytes) + " bytes, not " + std::to_string(kHandleBytes));
  }
  IpcMemHandle handle;
  if (!base64_decode(text, handle.bytes)) {
    return fault("its handle is not base64");
  }
  return std::optional(handle);
}

Result<std::uint64_t> read_number(std::string_view text, const std::string& name) {
  std::uint64_t number = 0;
  const char* const end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(std::to_address(text.begin()), end, number);
  if (error == std::errc::result_out_of_range) {
    return fault("its " + name + " does not fit 64 bits");
  }
  if (error != std::errc() || stop != end) {
    return fault("its " + name + " is not a number");
  }
  return number;
}

}  // namespace

Result<CudaIpcDescriptor> CudaIpcDescriptor::parse(std::string_view text) {
  const std::vector<std::string_view> parts = split(text);
  if (parts.size() != 4) {
    return fault("it is not <device>:<handle>:<storage_offset>:<storage_size>");
  }
  const std::optional<Uuid> gpu = Uuid::parse(parts[0]);
  if (!gpu) {
    return fault("its device is not a UUID in lower case");
  }
  CudaIpcDescriptor descriptor;
  descriptor.gpu = *gpu;
  TESSERA_ASSIGN_OR_RETURN(descriptor.handle, read_handle(parts[1]));
  TESSERA_ASSIGN_OR_RETURN(descriptor.offset_bytes, read_number(parts[2], "storage_offset"));
  TESSERA_ASSIGN_OR_RETURN(descriptor.allocation_bytes, read_number(parts[3], "storage_size"));
  return descriptor;
}

std::string CudaIpcDescriptor::text() const {
  std::string text = gpu.text() + ':';
  if (handle) {
    std::array<char, base64_length(kHandleBytes)> encoded{};
    base64_encode(handle->bytes, encoded.data());
    text.append(encoded.data(), encoded.size());
  }
  return text + ':' + std::to_string(offset_bytes) + ':' + std::to_string(allocation_bytes);
}

}  // namespace tessera
