// Reads the JSON of a response into values, arrays straight into their buffers.
#pragma once

#include <string_view>

#include "tessera/array/device_array.h"
#include "tessera/array/early_base64.h"
#include "tessera/array/value.h"
#include "tessera/base/confined_folder.h"

namespace tessera {

/// What arrays are read from beside the text. All outlive the call.
struct ArraySources {
  const ConfinedFolder* files = nullptr;      ///< of binref
  const DeviceArrayReader* device = nullptr;  ///< of GPU transports
  EarlyBase64* early = nullptr;               ///< followed the text as it arrived
};

/// Reads a whole text. Objects with `"object_type":"array"` become arrays (PROTOCOL.md section 10.3). Whole numbers of
/// more than 64 bits become doubles. Throws ClientError (kBadResponse; kGpu for an array that `device` cannot read).
[[nodiscard]] Value read_response_value(std::string_view text, const ArraySources& sources);
/// The same, but objects stay objects, whatever they look like.
[[nodiscard]] Value read_plain_value(std::string_view text);

}  // namespace tessera
