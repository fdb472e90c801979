// Arrays of known bytes on a GPU.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "exporter/exporter.h"
#include "tessera/ipc/gpu_system.h"

namespace tessera::gpu_kit {

/// The value, or its error as an exception.
template <class T>
T must(Result<T> result) {
  if (!result) {
    throw std::runtime_error(result.error().message());
  }
  return *std::move(result);
}
inline void must(const Status& status) {
  if (!status) {
    throw std::runtime_error(status.error().message());
  }
}

/// The bytes of a seed, in host memory. They are made by copies of a few, since there may be a GiB of them.
[[nodiscard]] inline Array bytes_on_host(std::size_t size_bytes, std::uint64_t seed) {
  Array host = Array::allocate(DType::kUInt8, {static_cast<std::int64_t>(size_bytes)});
  const std::span<std::byte> bytes = host.mutable_bytes();
  std::size_t made = std::min<std::size_t>(size_bytes, kBytePeriod);
  for (std::size_t i = 0; i < made; ++i) {
    bytes[i] = byte_at(seed, i);
  }
  while (made < size_bytes) {
    const std::size_t more = std::min(made, size_bytes - made);  // what is made is whole periods
    std::memcpy(bytes.data() + made, bytes.data(), more);
    made += more;
  }
  return host;
}

/// A copy of them on the first GPU.
[[nodiscard]] inline Array bytes_on_gpu(GpuSystem& gpus, std::size_t size_bytes, std::uint64_t seed) {
  return must(gpus.to_device(bytes_on_host(size_bytes, seed), gpus.gpus().front()->uuid()));
}

/// Nothing if the array has the bytes of the seed, else what is wrong.
[[nodiscard]] inline std::optional<std::string> compare(const Array& array, std::size_t size_bytes,
                                                        std::uint64_t seed) {
  const Array host = must(array.to_host());
  if (host.size_bytes() != size_bytes) {
    return "there are " + std::to_string(host.size_bytes()) + " bytes";
  }
  const Array expected = bytes_on_host(size_bytes, seed);
  if (size_bytes == 0 || std::memcmp(host.bytes().data(), expected.bytes().data(), size_bytes) == 0) {
    return std::nullopt;
  }
  const auto differing = std::ranges::mismatch(host.bytes(), expected.bytes()).in1;
  return "byte " + std::to_string(differing - host.bytes().begin()) + " differs";
}

}  // namespace tessera::gpu_kit
