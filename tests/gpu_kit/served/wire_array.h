// Arrays as they stand in messages, on the side of a client.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "tessera/array/array.h"
#include "tessera/ipc/gpu_transport.h"

namespace tessera::gpu_kit {

/// The array in base64.
[[nodiscard]] nlohmann::json to_base64(const Array& array);
/// The array by a reference; `exported` lives until the answer is there.
[[nodiscard]] nlohmann::json to_reference(const Array& array, const ExportedArray& exported);
/// Reads either; a reference is copied out. Throws std::runtime_error.
[[nodiscard]] Array read_array(const nlohmann::json& text, GpuTransport& transport);

}  // namespace tessera::gpu_kit
