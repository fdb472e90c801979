// Python's dotted names, as of exception classes.
#pragma once

#include <string_view>

namespace tessera {

/// What is behind the last dot: `numpy.linalg.LinAlgError` → `LinAlgError`.
[[nodiscard]] inline std::string_view last_part(std::string_view dotted) {
  return dotted.substr(dotted.rfind('.') + 1);
}

}  // namespace tessera
