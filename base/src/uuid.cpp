#include "tessera/base/uuid.h"

#include <cstddef>

namespace tessera {
namespace {

constexpr std::string_view kForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

std::optional<Uuid> Uuid::parse(std::string_view text) {
  if (text.size() != kForm.size()) {
    return std::nullopt;
  }
  Uuid uuid;
  std::size_t digits = 0;
  for (std::size_t i = 0; i != text.size(); ++i) {
    if (kForm[i] == '-') {
      if (text[i] != '-') {
        return std::nullopt;
      }
      continue;
    }
    const std::size_t value = kDigits.find(text[i]);
    if (value == std::string_view::npos) {
      return std::nullopt;
    }
    std::uint8_t& byte = uuid.bytes.at(digits / 2);
    byte = static_cast<std::uint8_t>((std::size_t{byte} << 4U) | value);
    ++digits;
  }
  return uuid;
}

std::string Uuid::text() const {
  std::string text;
  text.reserve(kForm.size());
  std::size_t digits = 0;
  for (const char form : kForm) {
    if (form == '-') {
      text.push_back('-');
      continue;
    }
    const std::uint8_t byte = bytes.at(digits / 2);
    text.push_back(kDigits[digits % 2 == 0 ? byte >> 4U : byte & 15U]);
    ++digits;
  }
  return text;
}

}  // namespace tessera
