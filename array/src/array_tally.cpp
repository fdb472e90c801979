#include "tessera/array/array_tally.h"

namespace tessera {

std::string_view name_of(ArrayEncoding encoding) {
  constexpr std::array<std::string_view, kArrayEncodingCount> kNames{"json",   "base64",     "base64+lz4",
                                                                     "binref", "binref+lz4", "cuda_ipc"};
  return kNames.at(static_cast<std::size_t>(encoding));
}

}  // namespace tessera
