// The array object of the wire: its members, and what they decode to (PROTOCOL.md section 5).
#pragma once

#include <cstdint>
#include <variant>

#include "tessera/array/array.h"
#include "tessera/array/array_fault.h"
#include "tessera/array/array_tally.h"
#include "tessera/array/json_scanner.h"
#include "tessera/base/confined_folder.h"

namespace tessera {

/// What reading an array object depends on. References outlive the call.
struct ArrayObjectContext {
  const ArraySpec& spec;
  const ConfinedFolder* files = nullptr;
  std::uint64_t limit_bytes = 0;
  const DeviceArrayReader* device = nullptr;  ///< without it cuda_ipc is refused
  bool accepts_raw = false;                   ///< another name of json
};

/// Reads the object that stands at the scanner and decodes its buffer; the array has the object's own type and shape,
/// which the declaration admits. The scanner stands behind the object afterwards, and its faults win.
/// `encoding` becomes how the array was written. Requires: scanner.peek() says kObject. Throws std::bad_alloc.
[[nodiscard]] std::variant<Array, ArrayFault> read_array_object(JsonScanner& scanner, const ArrayObjectContext& context,
                                                                ArrayEncoding& encoding);

}  // namespace tessera
