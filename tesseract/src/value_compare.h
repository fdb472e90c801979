// Compares what an endpoint gave with what a test expected (PROTOCOL.md section 4.5).
#pragma once

#include <string>
#include <vector>

#include "tessera/array/value.h"
#include "tessera/tesseract/schema.h"

namespace tessera {

/// How close is close enough: |obtained - expected| <= atol + rtol * |expected|. Whole numbers compare exactly.
struct Tolerance {
  double atol = 0.0;
  double rtol = 0.0;
};

/// What differs, a paragraph each. Where the structure differs, no values are compared.
struct Differences {
  std::vector<std::string> structure;
  std::vector<std::string> values;
};

/// Compares two complete outputs. `schema` tells dicts from objects in the paths of texts; null if there is none.
[[nodiscard]] Differences compare(const Object& obtained, const Object& expected, const Schema* schema,
                                  const Tolerance& tolerance);

}  // namespace tessera
