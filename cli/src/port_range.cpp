#include "port_range.h"

#include <charconv>
#include <system_error>

namespace tessera {
namespace {

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const char* const end = text.data() + text.size();
  // NOLINTNEXTLINE(bugprone-suspicious-stringview-data-usage): `end` bounds it
  const auto [stop, error] = std::from_chars(text.data(), end, port);
  return error == std::errc() && stop == end ? std::optional(port) : std::nullopt;
}

}  // namespace

std::optional<PortRange> parse_port_range(std::string_view text) {
  const std::size_t dash = text.find('-');
  const std::optional<std::uint16_t> first = parse_port(text.substr(0, dash));
  const std::optional<std::uint16_t> last = dash == std::string_view::npos ? first : parse_port(text.substr(dash + 1));
  if (!first || !last || *first > *last || (*first == 0 && *last != 0)) {
    return std::nullopt;
  }
  return PortRange{*first, *last};
}

}  // namespace tessera
