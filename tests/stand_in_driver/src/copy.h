// Copies and fills between device and host memory, as work of streams.
#pragma once

#include <cstddef>
#include <cstdint>

#include "driver.h"

namespace tessera::stand_in {

/// A box of bytes in memory: lines of `width` bytes, `pitch` apart, in layers `slice` apart. A plain copy is one line.
struct Box {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;
  std::uint64_t slice = 0;
};

struct Extent {
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;
};

/// What kind of memory a call says an address is of.
enum class Side { kHost, kDevice, kEither };

struct Copy {
  Box target;
  Box source;
  Extent extent;
  Side target_side = Side::kEither;
  Side source_side = Side::kEither;
};

/// How far the host waits: as the driver does for a plain copy of these kinds of memory, or not at all.
enum class HostWait { kAsPlainCopy, kNever };

[[nodiscard]] Result submit_copy(Driver& driver, Context& context, const Copy& copy, void* stream, bool is_per_thread,
                                 HostWait wait);
[[nodiscard]] Result submit_fill(Driver& driver, Context& context, std::uint64_t address, unsigned char value,
                                 std::uint64_t size_bytes, void* stream, bool is_per_thread);

}  // namespace tessera::stand_in
