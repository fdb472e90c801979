// Writes values as the JSON of a response (PROTOCOL.md sections 4.1 and 5).
#pragma once

#include "tessera/array/binref.h"
#include "tessera/array/body.h"
#include "tessera/array/device_array.h"
#include "tessera/array/encoding.h"
#include "tessera/array/value.h"
#include "tessera/base/result.h"

namespace tessera {

/// Where arrays go that do not go into the body itself. Both outlive the call.
struct ArrayWriters {
  BinrefWriter* files = nullptr;        ///< of kBinref; without it, that format is an error
  DeviceArrayWriter* device = nullptr;  ///< of arrays in GPU memory; without it, they are copied to the host
};

/// Appends a value to a body: compact, members in order, arrays as `encoding` says, shapes-only arrays as
/// `{"shape":…,"dtype":…}`, NaN and infinities as null. The body then shares the buffers of large base64 arrays.
/// Recurses as deep as the value is nested. Not to be called by two threads for one body. Errors: of the file system,
/// of CUDA; kTooLarge for an empty array with more than 2^26 rows as json; kInternal for kBinref without files; the
/// body holds a part then. Throws std::bad_alloc.
[[nodiscard]] Status write_value(const Value& value, const Encoding& encoding, const ArrayWriters& writers, Body& body);

}  // namespace tessera
