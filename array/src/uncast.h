// The rule for arrays that are handed on as they are: neither cast nor stretched (PROTOCOL.md section 5.5).
#pragma once

#include <optional>
#include <string_view>

#include "tessera/array/array_fault.h"
#include "tessera/array/fit.h"

namespace tessera {

/// Why an array of this type and shape is not what `spec` declares; a free axis is free. `reason` says why it is not
/// cast.
[[nodiscard]] std::optional<ArrayFault> find_uncast_misfit(DType dtype, const Shape& shape, const ArraySpec& spec,
                                                           std::string_view reason);

}  // namespace tessera
