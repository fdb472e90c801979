// Allocating in the address space.
#pragma once

#include <cstdint>
#include <optional>

#include "driver.h"

namespace tessera::stand_in {

/// cuMemAlloc and its kin: up to 1 MiB in a page shared with others, else with pages of its own. Nothing if the memory
/// or the addresses have run out.
[[nodiscard]] std::optional<std::uint64_t> allocate(Driver& driver, Context& context, std::uint64_t size_bytes,
                                                    Kind kind);
/// Maps a block at addresses of its own. 0 if these have run out.
[[nodiscard]] std::uint64_t map_block(Driver& driver, Context& context, const std::shared_ptr<PhysicalBlock>& block,
                                      Kind kind);

}  // namespace tessera::stand_in
