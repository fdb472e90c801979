// Messages of fixed size over a socket, each with a file descriptor or without.
#pragma once

#include <cstddef>

namespace tessera::driver_conformance {

/// `fd` goes along unless it is negative; it stays the caller's.
[[nodiscard]] bool send_message(int socket, const void* bytes, std::size_t size, int fd);
/// `fd` is the caller's afterwards; negative if none came.
[[nodiscard]] bool receive_message(int socket, void* bytes, std::size_t size, int& fd);

}  // namespace tessera::driver_conformance
