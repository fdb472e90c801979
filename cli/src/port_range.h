// The ports that a server may take: `8000`, or `8000-8010` for the first free one of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tessera {

/// Both ends belong to it; first <= last. A plain value.
struct PortRange {
  std::uint16_t first = 8000;
  std::uint16_t last = 8000;
};

/// Reads `N` or `A-B`; nothing for other texts, for numbers above 65535, and for an empty range.
[[nodiscard]] std::optional<PortRange> parse_port_range(std::string_view text);

}  // namespace tessera
