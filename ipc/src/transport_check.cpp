#include "tessera/ipc/transport_check.h"

#include <sys/random.h>

#include <algorithm>
#include <cerrno>
#include <ranges>
#include <string>
#include <utility>

#include "explain.h"
#include "tessera/base/file.h"

namespace tessera {
namespace {

const Shape kCheckShape = {static_cast<std::int64_t>(kCheckBytes)};

Status fill_with_random(std::span<std::byte> bytes) {
  // No interruption, and no short reads, up to 256 bytes (getrandom(2)).
  const ssize_t count = ::getrandom(bytes.data(), bytes.size(), 0);
  return count == static_cast<ssize_t>(bytes.size()) ? Status() : Status(system_error("getrandom", errno));
}

Array array_of(std::span<const std::byte> bytes) {
  Array array = Array::allocate(DType::kUInt8, kCheckShape);
  std::ranges::copy(bytes, array.mutable_bytes().begin());
  return array;
}

// The array that a reference names, and its bytes on the host.
struct CheckArrays {
  ImportedArray imported;
  Array host;
};

Result<CheckArrays> read(GpuTransport& transport, std::string_view reference) {
  TESSERA_ASSIGN_OR_RETURN(ImportedArray imported,
                           transport.import_array(reference, DType::kUInt8, kCheckShape, GpuTransport::Borrow::kNo));
  TESSERA_ASSIGN_OR_RETURN(Array host, imported.array.to_host());
  return CheckArrays{std::move(imported), std::move(host)};
}

}  // namespace

Result<Array> answer_check(GpuSystem& gpus, GpuTransport& transport, std::string_view reference,
                           std::span<const std::byte> expected) {
  TESSERA_ASSIGN_OR_RETURN(CheckArrays arrays, read(transport, reference));
  if (!std::ranges::equal(arrays.host.bytes(), expected)) {
    return Error(ErrorCode::kInvalidArgument, std::string(kServerBytesDiffer));
  }
  std::ranges::reverse(arrays.host.mutable_bytes());
  return gpus.to_device(arrays.host, arrays.imported.array.device()->gpu());
}

Result<TransportCheck> TransportCheck::start(GpuSystem& gpus, GpuTransport& transport, const Uuid& gpu) {
  TransportCheck check(transport);
  TESSERA_RETURN_IF_ERROR(fill_with_random(check.expected_));
  TESSERA_ASSIGN_OR_RETURN(const Array array, gpus.to_device(array_of(check.expected_), gpu));
  TESSERA_ASSIGN_OR_RETURN(check.exported_, transport.export_array(array));
  return check;
}

Status TransportCheck::finish(std::string_view reply_reference) const {
  TESSERA_ASSIGN_OR_RETURN(const CheckArrays arrays, read(*transport_, reply_reference));
  if (!std::ranges::equal(std::views::reverse(arrays.host.bytes()), expected_)) {
    return Error(ErrorCode::kInvalidArgument, std::string(kClientBytesDiffer));
  }
  return {};
}

}  // namespace tessera
