// Waits for the work that endpoints leave on a GPU: as long as it runs, it may read what the call was given.
#pragma once

#include "tessera/array/value.h"
#include "tessera/base/result.h"
#include "tessera/tesseract/call.h"

namespace tessera {

/// Waits for the streams that the arrays of a result name. Errors: of CUDA.
[[nodiscard]] Status wait_for_result(const Object& result);
/// Waits for all work on the GPUs that the arrays of a call lie on: who failed named no stream. What CUDA says of that
/// work concerns nobody any more.
void wait_after_failure(const Call& call);

}  // namespace tessera
