// Writes values as the JSON of a response (PROTOCOL.md sections 4.1 and 5).
#pragma once

#include "tessera/array/binref.h"
#include "tessera/array/body.h"
#include "tessera/array/encoding.h"
#include "tessera/array/value.h"
#include "tessera/base/result.h"

namespace tessera {

/// Appends a value to a body: compact, members in order, arrays as `encoding` says, shapes-only arrays as
/// `{"shape":…,"dtype":…}`, NaN and infinities as null. Arrays of kBinref go to `files` (may be null for other
/// formats). The body then shares the buffers of large base64 arrays. Recurses as deep as the value is nested. Not to
/// be called by two threads for one body. Errors: of the file system; kTooLarge for an empty array with more than 2^26
/// rows as json; kInternal for kBinref without files; the body holds a part then. Throws std::bad_alloc.
[[nodiscard]] Status write_value(const Value& value, const Encoding& encoding, BinrefWriter* files, Body& body);

}  // namespace tessera
