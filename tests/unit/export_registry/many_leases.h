// How many leases are many.
#pragma once

#include <cstdint>

namespace tessera::testing {

// A sanitizer makes each ten times as slow, and none of what is measured is better to be seen with more.
#ifdef TESSERA_SANITIZED
inline constexpr std::uint64_t kManyLeases = 100'000;
#else
inline constexpr std::uint64_t kManyLeases = 1'000'000;
#endif

}  // namespace tessera::testing
