#include "age.h"

#include <charconv>
#include <cstdint>
#include <system_error>

#include "tessera/base/checked_math.h"

namespace tessera {
namespace {

// The whole of a text as a number; 32 bits, so that no time overflows a clock in nanoseconds by itself.
std::optional<std::uint32_t> parse_count(std::string_view text) {
  std::uint32_t count = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), count);
  return fault == std::errc() && end == text.data() + text.size() ? std::optional(count) : std::nullopt;
}

}  // namespace

std::optional<std::chrono::seconds> parse_age(std::string_view text) {
  if (text.size() < 2) {
    return std::nullopt;
  }
  std::int64_t unit_s = 0;
  switch (text.back()) {
    case 's':
      unit_s = 1;
      break;
    case 'm':
      unit_s = 60;
      break;
    case 'h':
      unit_s = 3600;
      break;
    case 'd':
      unit_s = 86400;
      break;
    default:
      return std::nullopt;
  }
  text.remove_suffix(1);
  const std::optional<std::uint32_t> count = parse_count(text);
  if (!count) {
    return std::nullopt;
  }
  const std::optional<std::int64_t> age_s = checked_multiply(static_cast<std::int64_t>(*count), unit_s);
  return age_s ? std::optional<std::chrono::seconds>(*age_s) : std::nullopt;
}

std::optional<std::chrono::microseconds> parse_short_time(std::string_view text) {
  constexpr std::chrono::microseconds kLongest = std::chrono::seconds(1);
  std::chrono::microseconds unit{1};
  if (text.ends_with("us")) {
    text.remove_suffix(2);
  } else if (text.ends_with("ms")) {
    text.remove_suffix(2);
    unit = std::chrono::milliseconds(1);
  } else if (text != "0") {
    return std::nullopt;
  }
  const std::optional<std::uint32_t> count = parse_count(text);
  return count && *count <= kLongest / unit ? std::optional(unit * *count) : std::nullopt;
}

}  // namespace tessera
