// Writing to a descriptor whose reader may have gone to sleep.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string_view>

namespace tessera {

/// Writes the beginning of a text, at most what a pipe takes at once that has any room (4 KiB, pipe(7)), and waits so
/// long for the room. Returns how many bytes went; 0 if there was no room; -1 if they cannot be written, see errno.
/// Requires: a text that is not empty. Async-signal-safe. Safe to call from any thread.
[[nodiscard]] ssize_t write_patiently(int descriptor, std::string_view text,
                                      std::chrono::milliseconds patience) noexcept;

}  // namespace tessera
