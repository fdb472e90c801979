// What a client may call the host that it talks to (RFC 9112 section 3.2).
#pragma once

#include <string_view>

namespace tessera {

/// Whether it is the value of a Host header: a name, an address, or nothing, and a port if need be.
[[nodiscard]] bool is_host(std::string_view text);

}  // namespace tessera
