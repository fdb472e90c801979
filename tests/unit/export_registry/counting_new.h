// How much memory this program has taken from malloc through `new`.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tessera::testing {

/// Bytes in use, with the word that malloc keeps for each block. Safe to call from any thread.
std::int64_t bytes_in_use();

/// From the next one on, the n-th `new` of this thread throws std::bad_alloc, once; 0 for never.
void fail_new_after(std::size_t count);

}  // namespace tessera::testing
