#include "base64_codec.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TESSERA_AVX2 __attribute__((target("avx2")))

namespace tessera {
namespace {

// One block is 24 bytes or 32 characters: 12 bytes and 16 characters in each half of a register.
constexpr std::size_t kBlockBytes = 24;
constexpr std::size_t kBlockCharacters = 32;

TESSERA_AVX2 inline __m256i in_both_halves(__m128i half) {
  return _mm256_broadcastsi128_si256(half);
}

TESSERA_AVX2 inline __m256i load_24(const std::byte* from) {
  const auto* low = reinterpret_cast<const __m128i*>(from);
  const auto* high = reinterpret_cast<const __m128i*>(from + kBlockBytes / 2);
  return _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(low)), _mm_loadu_si128(high), 1);
}
// The second load ends four bytes behind the block.
constexpr std::size_t kLoadBytes = kBlockBytes + 4;

// Spreads each three bytes over four bytes of six bits.
TESSERA_AVX2 inline __m256i split(__m256i bytes) {
  // Three bytes a b c become b a c b, so that each six bits lie within one 16-bit word, to be shifted by a product.
  const __m256i order = in_both_halves(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
  const __m256i words = _mm256_shuffle_epi8(bytes, order);
  const __m256i first_and_third = _mm256_and_si256(words, _mm256_set1_epi32(0x0fc0fc00));
  const __m256i second_and_fourth = _mm256_and_si256(words, _mm256_set1_epi32(0x003f03f0));
  return _mm256_or_si256(_mm256_mulhi_epu16(first_and_third, _mm256_set1_epi32(0x04000040)),
                         _mm256_mullo_epi16(second_and_fourth, _mm256_set1_epi32(0x01000010)));
}

// Turns numbers below 64 into characters by adding the distance of their range: 0 for a-z, 1 to 12 for 0-9 + /, 13 for
// A-Z.
TESSERA_AVX2 inline __m256i to_characters(__m256i numbers) {
  const __m256i distances =
      in_both_halves(_mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
                                   '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0));
  const __m256i above_letters = _mm256_subs_epu8(numbers, _mm256_set1_epi8(51));
  const __m256i is_capital = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), numbers);
  const __m256i range = _mm256_or_si256(above_letters, _mm256_and_si256(is_capital, _mm256_set1_epi8(13)));
  return _mm256_add_epi8(numbers, _mm256_shuffle_epi8(distances, range));
}

// Turns characters into numbers below 64; returns false if one is not of the alphabet. Each half of a character's
// code selects a set of bits; the character is bad where the two sets meet.
TESSERA_AVX2 inline bool to_numbers(__m256i characters, __m256i& numbers) {
  const __m256i bad_with_low = in_both_halves(
      _mm_setr_epi8(0x15, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x13, 0x1a, 0x1b, 0x1b, 0x1b, 0x1a));
  const __m256i bad_with_high = in_both_halves(
      _mm_setr_epi8(0x10, 0x10, 0x01, 0x02, 0x04, 0x08, 0x04, 0x08, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10, 0x10));
  // By the high half of the code; '/' shares its own with '+' and is looked up one place lower.
  const __m256i distances = in_both_halves(
      _mm_setr_epi8(0, 63 - '/', 62 - '+', 52 - '0', -'A', -'A', 26 - 'a', 26 - 'a', 0, 0, 0, 0, 0, 0, 0, 0));
  // Bit 5 of the mask is no part of the index, and bit 7, which would make a zero of the look-up, is cleared.
  const __m256i mask = _mm256_set1_epi8(0x2f);
  const __m256i high = _mm256_and_si256(_mm256_srli_epi32(characters, 4), mask);
  const __m256i low = _mm256_and_si256(characters, mask);
  if (_mm256_testz_si256(_mm256_shuffle_epi8(bad_with_low, low), _mm256_shuffle_epi8(bad_with_high, high)) == 0) {
    return false;
  }
  const __m256i is_slash = _mm256_cmpeq_epi8(characters, _mm256_set1_epi8('/'));
  numbers = _mm256_add_epi8(characters, _mm256_shuffle_epi8(distances, _mm256_add_epi8(is_slash, high)));
  return true;
}

// Packs each four bytes of six bits into three bytes, all 24 at the front.
TESSERA_AVX2 inline __m256i join(__m256i numbers) {
  const __m256i pairs = _mm256_maddubs_epi16(numbers, _mm256_set1_epi32(0x01400140));
  const __m256i groups = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00011000));
  const __m256i order = in_both_halves(_mm_setr_epi8(2, 1, 0, 6, 5, 4, 10, 9, 8, 14, 13, 12, -1, -1, -1, -1));
  return _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(groups, order), _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 7, 7));
}

}  // namespace

bool can_base64_avx2() {
  return __builtin_cpu_supports("avx2") != 0;
}

TESSERA_AVX2 std::size_t base64_encode_avx2(std::span<const std::byte> bytes, char* into) {
  std::size_t done = 0;
  for (; bytes.size() - done >= kLoadBytes; done += kBlockBytes, into += kBlockCharacters) {
    const __m256i characters = to_characters(split(load_24(bytes.data() + done)));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(into), characters);
  }
  return done;
}

TESSERA_AVX2 std::size_t base64_decode_avx2(std::string_view text, std::span<std::byte> into) {
  std::size_t done = 0;
  std::byte* out = into.data();
  // A store writes a whole register, a quarter more than the block.
  std::size_t room = into.size();
  for (; room >= sizeof(__m256i); room -= kBlockBytes, out += kBlockBytes, done += kBlockCharacters) {
    __m256i numbers;
    const auto* from = reinterpret_cast<const __m256i*>(text.data() + done);
    if (!to_numbers(_mm256_loadu_si256(from), numbers)) {
      break;
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), join(numbers));
  }
  return done;
}

}  // namespace tessera

#else

namespace tessera {

bool can_base64_avx2() {
  return false;
}
std::size_t base64_encode_avx2(std::span<const std::byte> /*bytes*/, char* /*into*/) {
  return 0;
}
std::size_t base64_decode_avx2(std::string_view /*text*/, std::span<std::byte> /*into*/) {
  return 0;
}

}  // namespace tessera

#endif
