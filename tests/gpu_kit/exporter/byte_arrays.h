// Arrays of known bytes on a GPU.
#pragma once

#include <cstdint>
#include <optional>
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
  if constexpr (!std::is_void_v<T>) {
    return std::move(*result);
  }
}

/// A copy on the first GPU of the bytes of a seed.
[[nodiscard]] inline Array bytes_on_gpu(GpuSystem& gpus, std::size_t size_bytes, std::uint64_t seed) {
  Array host = Array::allocate(DType::kUInt8, {static_cast<std::int64_t>(size_bytes)});
  std::size_t i = 0;
  for (std::byte& byte : host.mutable_bytes()) {
    byte = byte_at(seed, i++);
  }
  return must(gpus.to_device(host, gpus.gpus().front()->uuid()));
}

/// Nothing if the array has the bytes of the seed, else what is wrong.
[[nodiscard]] inline std::optional<std::string> compare(const Array& array, std::size_t size_bytes,
                                                        std::uint64_t seed) {
  const Array host = must(array.to_host());
  if (host.size_bytes() != size_bytes) {
    return "there are " + std::to_string(host.size_bytes()) + " bytes";
  }
  std::size_t i = 0;
  for (const std::byte byte : host.bytes()) {
    if (byte != byte_at(seed, i)) {
      return "byte " + std::to_string(i) + " differs";
    }
    ++i;
  }
  return std::nullopt;
}

}  // namespace tessera::gpu_kit
