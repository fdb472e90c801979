#include <array>
#include <cstdint>

#include "tessera/array/base64.h"

namespace tessera {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Two characters for each 12 bits, so that three bytes cost two look-ups.
using PairTable = std::array<std::array<char, 2>, 4096>;
constexpr PairTable make_pairs() {
  PairTable pairs{};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    pairs[i] = {kAlphabet[i / 64], kAlphabet[i % 64]};
  }
  return pairs;
}
constexpr PairTable kPairs = make_pairs();

// For each of the four places of a group: the 24-bit number that a character stands for there.
constexpr std::uint32_t kBad = std::uint32_t{1} << 24U;
using PlaceTable = std::array<std::uint32_t, 256>;
constexpr PlaceTable make_place(unsigned shift) {
  PlaceTable place{};
  for (std::uint32_t& entry : place) {
    entry = kBad;
  }
  for (std::uint32_t i = 0; i < 64; ++i) {
    place[static_cast<unsigned char>(kAlphabet[i])] = i << shift;
  }
  return place;
}
constexpr std::array<PlaceTable, 4> kPlaces{make_place(18), make_place(12), make_place(6), make_place(0)};

std::uint32_t bits_of(char character, std::size_t place) {
  return kPlaces[place][static_cast<unsigned char>(character)];
}

std::uint32_t number_of(std::byte byte) {
  return std::to_integer<std::uint32_t>(byte);
}

void write_pair(char* into, std::uint32_t twelve_bits) {
  const auto& pair = kPairs[twelve_bits & 0xfffU];
  into[0] = pair[0];
  into[1] = pair[1];
}

// The last group of a text with padding; nothing but zeros may follow the bits that are used.
bool decode_padded(std::string_view group, std::span<std::byte> into) {
  const bool is_single = into.size() == 1;
  std::uint32_t bits = bits_of(group[0], 0) | bits_of(group[1], 1);
  if (!is_single) {
    bits |= bits_of(group[2], 2);
  }
  const std::uint32_t unused = is_single ? 0xffffU : 0xffU;
  if (bits >= kBad || (bits & unused) != 0 || (is_single && group[2] != '=') || group[3] != '=') {
    return false;
  }
  into[0] = static_cast<std::byte>(bits >> 16U);
  if (!is_single) {
    into[1] = static_cast<std::byte>((bits >> 8U) & 0xffU);
  }
  return true;
}

}  // namespace

void base64_encode_scalar(std::span<const std::byte> bytes, char* into) {
  const std::byte* from = bytes.data();
  std::size_t left = bytes.size();
  for (; left >= 3; left -= 3, from += 3, into += 4) {
    const std::uint32_t bits = (number_of(from[0]) << 16U) | (number_of(from[1]) << 8U) | number_of(from[2]);
    write_pair(into, bits >> 12U);
    write_pair(into + 2, bits);
  }
  if (left == 0) {
    return;
  }
  const std::uint32_t bits = (number_of(from[0]) << 16U) | (left == 2 ? number_of(from[1]) << 8U : 0U);
  write_pair(into, bits >> 12U);
  write_pair(into + 2, bits);
  into[3] = '=';
  if (left == 1) {
    into[2] = '=';
  }
}

bool base64_decode_scalar(std::string_view text, std::span<std::byte> into) {
  if (text.empty()) {
    return true;
  }
  const std::size_t whole_groups = into.size() / 3;
  const char* from = text.data();
  std::byte* out = into.data();
  for (std::size_t group = 0; group < whole_groups; ++group, from += 4, out += 3) {
    const std::uint32_t bits = bits_of(from[0], 0) | bits_of(from[1], 1) | bits_of(from[2], 2) | bits_of(from[3], 3);
    if (bits >= kBad) {
      return false;
    }
    out[0] = static_cast<std::byte>(bits >> 16U);
    out[1] = static_cast<std::byte>((bits >> 8U) & 0xffU);
    out[2] = static_cast<std::byte>(bits & 0xffU);
  }
  if (into.size() % 3 == 0) {
    return true;
  }
  return decode_padded(text.substr(whole_groups * 4), into.subspan(whole_groups * 3));
}

}  // namespace tessera
