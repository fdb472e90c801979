// Why a value is not the array that a field declares; one kind for each 422 item of PROTOCOL.md section 7.3.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "tessera/array/dtype.h"
#include "tessera/array/shape.h"

namespace tessera {

/// A plain value; which members are set depends on the kind. A free axis is shown as the size in `actual_shape`.
struct ArrayFault {
  enum class Kind {
    kNonNumeric,       ///< array_non_numeric: malformed object, or no numbers
    kRagged,           ///< value_error: rows of different length; `reason`
    kDecode,           ///< array_decode_error: `encoding`, `reason`
    kDimensionality,   ///< array_dimensionality_mismatch: `actual_shape`, `expected_shape` as declared (their ranks)
    kShape,            ///< array_shape_mismatch: `actual_shape`, `expected_shape` (free axes as in the former)
    kDType,            ///< array_dtype_mismatch: `actual_dtype`, `expected_dtype`; `reason` if there is no casting
    kOutOfRange,       ///< array_value_out_of_range: `expected_dtype`, `value` (Python's text)
    kExpectedInteger,  ///< array_expected_integer
  };
  Kind kind = Kind::kNonNumeric;
  Shape actual_shape;
  Shape expected_shape;  ///< kFreeAxis may stand in it for kDimensionality only
  std::optional<DType> actual_dtype;
  std::optional<DType> expected_dtype;
  std::string value;
  std::string encoding;        ///< "json", "base64", "binref" or "cuda_ipc"
  std::string reason;          ///< a sentence, in upstream's words where they are known
  bool is_over_limit = false;  ///< kDecode: it is larger than the reader may read
};

}  // namespace tessera
