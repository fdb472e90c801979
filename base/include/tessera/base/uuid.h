// A UUID as bytes and as text: what names a GPU.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// 16 bytes, the first one first. A plain value.
struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  /// Reads the form that text() writes, and no other: lower case, no prefix, no braces.
  [[nodiscard]] static std::optional<Uuid> parse(std::string_view text);
  /// 36 characters: `5f3b2c1a-0d4e-4a6b-8c9d-0123456789ab`.
  [[nodiscard]] std::string text() const;

  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

}  // namespace tessera
