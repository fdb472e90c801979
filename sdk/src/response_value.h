// Reads the JSON of a response into values, arrays straight into their buffers.
#pragma once

#include <string_view>

#include "tessera/array/arriving_text.h"
#include "tessera/array/device_array.h"
#include "tessera/array/value.h"
#include "tessera/base/confined_folder.h"

namespace tessera {

/// What arrays are read from beside the text. All outlive the call.
struct ArraySources {
  const ConfinedFolder* files = nullptr;      ///< of binref
  const DeviceArrayReader* device = nullptr;  ///< of GPU transports
};

/// Reads a whole text. Objects with `"object_type":"array"` become arrays (PROTOCOL.md section 10.3). Whole numbers of
/// more than 64 bits become doubles. Throws ClientError (kBadResponse; kGpu for an array that `device` cannot read).
[[nodiscard]] Value read_response_value(std::string_view text, const ArraySources& sources);
/// The same of a text that may be folded; it is unfolded if need be.
[[nodiscard]] Value read_response_value(ArrivingText& text, const ArraySources& sources);
/// The same, but objects stay objects, whatever they look like.
[[nodiscard]] Value read_plain_value(std::string_view text);

}  // namespace tessera
