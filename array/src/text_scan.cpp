#include "text_scan.h"

#include <cstddef>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace tessera {
namespace {

template <bool kStopsOutsideAscii>
bool is_stop(char character) {
  const auto byte = static_cast<unsigned char>(character);
  return byte < 0x20 || byte == '"' || byte == '\\' || (kStopsOutsideAscii && byte >= 0x80);
}

template <bool kStopsOutsideAscii>
const char* find_stop_plain(const char* at, const char* end) {
  while (at != end && !is_stop<kStopsOutsideAscii>(*at)) {
    ++at;
  }
  return at;
}

#if defined(__x86_64__)

// Texts up to this length are not worth the call of the wide loop.
constexpr std::ptrdiff_t kShortLength = 128;

template <bool kStopsOutsideAscii>
unsigned stops_in_16(const char* at) {
  const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  const __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
  const __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
  // As signed numbers, bytes outside ASCII are below 0x20 too; the other form compares without sign.
  const __m128i controls = kStopsOutsideAscii ? _mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20))
                                              : _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
  return static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, backslashes), controls)));
}

template <bool kStopsOutsideAscii>
const char* find_stop_16(const char* at, const char* end) {
  for (; end - at >= 16; at += 16) {
    if (const unsigned stops = stops_in_16<kStopsOutsideAscii>(at); stops != 0) {
      return at + __builtin_ctz(stops);
    }
  }
  return find_stop_plain<kStopsOutsideAscii>(at, end);
}

// Not a lambda: what is inlined into a function for AVX2 must be declared for it.
template <bool kStopsOutsideAscii>
__attribute__((target("avx2"))) inline __m256i stops_in_32(const char* at) {
  const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
  const __m256i quotes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('"'));
  const __m256i backslashes = _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8('\\'));
  const __m256i controls = kStopsOutsideAscii
                               ? _mm256_cmpgt_epi8(_mm256_set1_epi8(0x20), bytes)
                               : _mm256_cmpeq_epi8(_mm256_min_epu8(bytes, _mm256_set1_epi8(0x1f)), bytes);
  return _mm256_or_si256(_mm256_or_si256(quotes, backslashes), controls);
}

template <bool kStopsOutsideAscii>
__attribute__((target("avx2"))) const char* find_stop_128(const char* at, const char* end) {
  for (; end - at >= 128; at += 128) {
    const __m256i first = stops_in_32<kStopsOutsideAscii>(at);
    const __m256i second = stops_in_32<kStopsOutsideAscii>(at + 32);
    const __m256i third = stops_in_32<kStopsOutsideAscii>(at + 64);
    const __m256i fourth = stops_in_32<kStopsOutsideAscii>(at + 96);
    const __m256i any = _mm256_or_si256(_mm256_or_si256(first, second), _mm256_or_si256(third, fourth));
    if (_mm256_testz_si256(any, any) == 0) {
      break;
    }
  }
  return find_stop_16<kStopsOutsideAscii>(at, end);
}

template <bool kStopsOutsideAscii>
const char* find_stop(const char* at, const char* end) {
  static const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;
  const char* near = end - at > kShortLength ? at + kShortLength : end;
  const char* stop = find_stop_16<kStopsOutsideAscii>(at, near);
  if (stop != near || near == end) {
    return stop;
  }
  return kHasAvx2 ? find_stop_128<kStopsOutsideAscii>(near, end) : find_stop_16<kStopsOutsideAscii>(near, end);
}

#else

template <bool kStopsOutsideAscii>
const char* find_stop(const char* at, const char* end) {
  return find_stop_plain<kStopsOutsideAscii>(at, end);
}

#endif

}  // namespace

const char* find_text_stop(const char* at, const char* end) {
  return find_stop<true>(at, end);
}

const char* find_ascii_text_stop(const char* at, const char* end) {
  return find_stop<false>(at, end);
}

}  // namespace tessera
